// Writes typescript-hashes.json and typescript-rows.json with the real package, for the payloads of python-hashes.json:
// npm install @aws-lambda-powertools/idempotency @aws-lambda-powertools/jmespath @aws-sdk/client-dynamodb; node generate.mjs
process.env.AWS_LAMBDA_FUNCTION_NAME='orders-ts'; process.env.AWS_REGION='eu-west-1';
import fs from 'node:fs';
const {makeIdempotent, IdempotencyConfig}=await import('@aws-lambda-powertools/idempotency');
const {DynamoDBPersistenceLayer}=await import('@aws-lambda-powertools/idempotency/dynamodb');
const version=JSON.parse(fs.readFileSync('node_modules/@aws-lambda-powertools/idempotency/package.json')).version;
const {deepSort}=await import(process.cwd()+'/node_modules/@aws-lambda-powertools/idempotency/lib/esm/deepSort.js');
const py=JSON.parse(fs.readFileSync('python-hashes.json'));
const layer=new DynamoDBPersistenceLayer({tableName:'t'}); layer.configure({config:new IdempotencyConfig({})});
const vectors=py.vectors.map(v=>({payload:v.payload, hash:layer.generateHash(JSON.stringify(deepSort(JSON.parse(v.payload))))}));
fs.writeFileSync('typescript-hashes.json', JSON.stringify({package:'@aws-lambda-powertools/idempotency',version,vectors},null,1));
const rows=[];
async function run(name, config, event, result, opts={}, keyPrefix){
  const layer=new DynamoDBPersistenceLayer({tableName:'t',...opts}); let item, snap;
  layer.client.send=async(cmd)=>{const i=cmd.input; if(i.Item){item={...i.Item}} else if(i.UpdateExpression){ for(const p of i.UpdateExpression.slice(4).split(',')){const [a,b]=p.split('=').map(x=>x.trim()); item[i.ExpressionAttributeNames[a]]=i.ExpressionAttributeValues[b];} } return {};};
  const f=makeIdempotent(async(e,c)=>{snap=JSON.parse(JSON.stringify(item)); return result;},{persistenceStore:layer,config,keyPrefix});
  await f(event,{getRemainingTimeInMillis:()=>30000});
  rows.push({name,event,returned:result,in_progress:snap,completed:item});
}
const api={body:JSON.stringify({amount:1200,currency:'EUR',customer:'cus_42'}),headers:{'Idempotency-Key':'order-42'}};
const resp={statusCode:201,headers:{'Content-Type':'application/json',Location:'/charges/ch_old'},body:'{"id": "ch_old"}'};
const cfg=(k)=>new IdempotencyConfig({expiresAfterSeconds:3600,...k});
await run('http by header',cfg({eventKeyJmesPath:'headers."Idempotency-Key"'}),api,resp);
await run('http by body',cfg({eventKeyJmesPath:'powertools_json(body).[customer, amount]',payloadValidationJmesPath:'powertools_json(body).currency'}),api,resp);
await run('composite',cfg({eventKeyJmesPath:'headers."Idempotency-Key"'}),api,resp,{keyAttr:'pk',sortKeyAttr:'sk'});
await run('prefix',cfg({eventKeyJmesPath:'headers."Idempotency-Key"'}),api,resp,{},'my-prefix');
await run('value',cfg({eventKeyJmesPath:'order_id'}),{order_id:'o-7'},{seat:'12A',price:12.5,tags:null});
await run('nothing',cfg({eventKeyJmesPath:'order_id'}),{order_id:'o-7'},undefined);
await run('text',cfg({eventKeyJmesPath:'order_id'}),{order_id:'o-7'},'12');
fs.writeFileSync('typescript-rows.json', JSON.stringify({package:'@aws-lambda-powertools/idempotency',version,rows},null,1));
