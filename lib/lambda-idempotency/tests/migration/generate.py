# Writes python-hashes.json and python-rows.json with the real package: pip install "aws-lambda-powertools[all]"; python generate.py
import json, os, datetime as dt
os.environ["AWS_LAMBDA_FUNCTION_NAME"]="orders-py"; os.environ["AWS_DEFAULT_REGION"]="eu-west-1"
import warnings; warnings.simplefilter("ignore")
from aws_lambda_powertools.utilities.idempotency import idempotent, idempotent_function, DynamoDBPersistenceLayer, IdempotencyConfig
from aws_lambda_powertools.utilities.idempotency.persistence.dynamodb import DynamoDBPersistenceLayer as L
from aws_lambda_powertools.shared.version import VERSION
class Meta:
    def __init__(s): s.events=s
    def register(s,*a,**k): pass
    region_name="eu-west-1"
class Fake:
    def __init__(s): s.items=[]; s.meta=Meta()
    def put_item(s, **k): s.items.append(dict(k["Item"])); return {}
    def update_item(s, **k):
        it=s.items[-1]; n=k["ExpressionAttributeNames"]; v=k["ExpressionAttributeValues"]
        for part in k["UpdateExpression"][4:].split(","):
            a,b=[x.strip() for x in part.split("=")]; it[n[a]]=v[b]
        return {}
    def delete_item(s, **k): s.items.pop(); return {}
payloads=[ "order-42", "", "ä€😀\u2028\x7f\"\\/\n\t\r\b\f\x01", 0, 1, -7, True, 9007199254740991, 12.5, -0.25, 0.1, 1e-7, 123456.789, 1.0, 1e15, 1e21, 0.0001, 0.00001,
  ["a", "bc"], ["ab","c"], [None, 1], [], {"b":1,"a":[{"z":None,"y":False}],"Ax":"x","ä":2,"É":3,"Bz":{}, "_":0, "10":1, "9":2}, {"a":1,"A":2},
  {"user":{"id":"u-1","name":"Zoë"},"items":[{"sku":"s-2","n":2},{"sku":"s-1","n":1.5}]}, {"amount":1200,"currency":"EUR","customer":"cus_42"} ]
layer=L(table_name="t", boto3_client=Fake()); layer.configure(IdempotencyConfig(), "f")
vec=[{"payload":json.dumps(p),"hash":layer._generate_hash(p)} for p in payloads]
json.dump({"package":"aws-lambda-powertools (Python)","version":VERSION,"vectors":vec}, open("python-hashes.json","w"), indent=1, ensure_ascii=True)

class Ctx:
    def get_remaining_time_in_millis(s): return 30000
    function_name="orders-py"
rows=[]
def run(name, config, event, result, composite=False, fail=None, prefix=None, in_progress=False):
    fake=Fake(); kw={}
    if composite: kw=dict(key_attr="pk", sort_key_attr="sk")
    layer=DynamoDBPersistenceLayer(table_name="t", boto3_client=fake, **kw)
    snap={}
    @idempotent(config=config, persistence_store=layer, key_prefix=prefix)
    def handler(event, context):
        snap["x"]=json.loads(json.dumps(fake.items[-1]))
        return result
    handler(event, Ctx())
    rows.append({"name":name,"event":event,"returned":result,"in_progress":snap["x"],"completed":fake.items[-1]})
api={"body":json.dumps({"amount":1200,"currency":"EUR","customer":"cus_42"}),"headers":{"Idempotency-Key":"order-42"}}
cfg=lambda **k: IdempotencyConfig(expires_after_seconds=3600, **k)
resp={"statusCode":201,"headers":{"Content-Type":"application/json","Location":"/charges/ch_old"},"body":"{\"id\": \"ch_old\"}"}
run("http by header", cfg(event_key_jmespath='headers."Idempotency-Key"'), api, resp)
run("http by body", cfg(event_key_jmespath='powertools_json(body).[customer, amount]', payload_validation_jmespath='powertools_json(body).currency'), api, resp)
run("composite", cfg(event_key_jmespath='headers."Idempotency-Key"'), api, resp, composite=True)
run("prefix", cfg(event_key_jmespath='headers."Idempotency-Key"'), api, resp, prefix="my-prefix")
run("value", cfg(event_key_jmespath='order_id'), {"order_id":"o-7"}, {"seat":"12A","price":12.5,"tags":None})
run("nothing", cfg(event_key_jmespath='order_id'), {"order_id":"o-7"}, None)
json.dump({"package":"aws-lambda-powertools (Python)","version":VERSION,"rows":rows}, open("python-rows.json","w"), indent=1)
