"""What moto creates as AWS does, created from the transformed template and used: tables, queues, the bus with its rule, roles.

moto says that it has created the rest too and leaves it out or does nothing with it (functions, APIs, alarms, queue policies, TTL, recovery,
encryption); that is read from the template in the other files.
"""

import copy
import json
import unittest

import boto3
from botocore.exceptions import ClientError
from moto import mock_aws

from stack import REGION, REQUIRED, Stack
from test_policies import CALLS

CREATED = {
    "AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::Events::EventBus", "AWS::Events::Rule", "AWS::IAM::Role", "AWS::Logs::LogGroup",
    "AWS::S3::Bucket",
}


def client(service):
    return boto3.client(service, region_name=REGION, aws_access_key_id="test", aws_secret_access_key="test")


def template():
    """The transformed template with what moto creates. Its rule names what moto cannot refer to: the bus, and the function, which is not
    there."""
    stack = Stack("template.yaml")
    created = copy.deepcopy(stack.template)
    created["Resources"] = {name: resource for name, resource in created["Resources"].items() if resource["Type"] in CREATED}
    rule = created["Resources"]["OrderEventsOrders"]["Properties"]
    assert rule["EventBusName"] == {"Ref": "OrdersBus"}
    rule["EventBusName"] = created["Resources"]["OrdersBus"]["Properties"]["Name"]
    created["Resources"]["OrderEventsOrders"]["DependsOn"] = "OrdersBus"
    rule["Targets"][0]["Arn"] = f"arn:aws:lambda:{REGION}:123456789012:function:order-events"
    # moto knows no schedules, and fails on other events once there is one.
    created["Resources"].pop("ReconcileNightly")
    created.pop("Outputs")
    return created


class Created(unittest.TestCase):
    def setUp(self):
        mock = mock_aws()
        mock.start()
        self.addCleanup(mock.stop)
        cloudformation = client("cloudformation")
        parameters = [{"ParameterKey": name, "ParameterValue": value} for name, value in REQUIRED.items()]
        cloudformation.create_stack(
            StackName="stack", TemplateBody=json.dumps(template()), Parameters=parameters, Capabilities=["CAPABILITY_IAM"]
        )
        resources = cloudformation.describe_stack_resources(StackName="stack")["StackResources"]
        self.physical = {resource["LogicalResourceId"]: resource.get("PhysicalResourceId") for resource in resources}
        self.assertEqual(set(self.physical), set(template()["Resources"]))

    def queue(self, name):
        url = self.physical[name]
        attributes = client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        return url, attributes

    def test_a_record_is_claimed_once_and_the_second_claim_is_told_the_first(self):
        dynamodb, table = client("dynamodb"), self.physical["IdempotencyTable"]
        described = dynamodb.describe_table(TableName=table)["Table"]
        keys = [(key["AttributeName"], key["KeyType"]) for key in described["KeySchema"]]
        self.assertEqual(keys, [("pk", "HASH"), ("sk", "RANGE")])
        self.assertEqual(described["StreamSpecification"], {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        self.assertEqual(described["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")

        def claim(owner):
            item = {"pk": {"S": "dev#create-charge#v1#abc"}, "sk": {"S": "claim"}, "owner": {"B": owner}}
            dynamodb.put_item(
                TableName=table, Item=item, ConditionExpression="attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure="ALL_OLD"
            )

        claim(b"first")
        with self.assertRaises(ClientError) as refused:
            claim(b"second")
        self.assertEqual(refused.exception.response["Error"]["Code"], "ConditionalCheckFailedException")
        self.assertEqual(refused.exception.response["Item"]["owner"], {"B": b"first"})
        # What stands beside a claim has another sort key.
        dynamodb.put_item(TableName=table, Item={"pk": {"S": "dev#create-charge#v1#abc"}, "sk": {"S": "outbox#x#0000"}})
        self.assertEqual(dynamodb.query(TableName=table, KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": "dev#create-charge#v1#abc"}})["Count"], 2)

    def test_every_table_takes_an_item_of_the_keys_that_the_functions_write(self):
        dynamodb = client("dynamodb")
        written = {
            "ChargesTable": ["charge_id"], "AccountsTable": ["account_id"], "LedgerTable": ["entry_id"], "StockTable": ["sku"],
            "ShopOrdersTable": ["order_id"], "ChunksTable": ["chunk_id"], "ClaimsTable": ["claim_key"],
            "OrdersTable": ["customer_id", "order_id"],
        }
        self.assertEqual(set(written), {name for name in self.physical if name.endswith("Table")} - {"IdempotencyTable"})
        for name, keys in written.items():
            item = {key: {"S": "x"} for key in keys}
            dynamodb.put_item(TableName=self.physical[name], Item=item)
            self.assertEqual(dynamodb.get_item(TableName=self.physical[name], Key=item)["Item"], item)

    def test_a_message_that_is_received_five_times_goes_to_the_dead_letters(self):
        sqs = client("sqs")
        url, attributes = self.queue("ClaimsQueue")
        self.assertEqual(attributes["VisibilityTimeout"], "360")
        dead_letters, kept = self.queue("ClaimsDeadLetters")
        self.assertEqual(kept["MessageRetentionPeriod"], "1209600")
        sqs.send_message(QueueUrl=url, MessageBody="poison")
        for received in range(1, 6):
            message, = sqs.receive_message(QueueUrl=url, VisibilityTimeout=0, AttributeNames=["ApproximateReceiveCount"])["Messages"]
            self.assertEqual(message["Attributes"]["ApproximateReceiveCount"], str(received))
        self.assertNotIn("Messages", sqs.receive_message(QueueUrl=url, VisibilityTimeout=0))
        dead, = sqs.receive_message(QueueUrl=dead_letters)["Messages"]
        self.assertEqual(dead["Body"], "poison")

    def test_the_rule_takes_the_events_of_orders_from_its_bus_and_no_others(self):
        events, sqs = client("events"), client("sqs")
        bus, rule = "stack-orders", self.physical["OrderEventsOrders"]
        target, = events.list_targets_by_rule(Rule=rule, EventBusName=bus)["Targets"]
        self.assertEqual(target["DeadLetterConfig"]["Arn"], self.queue("OrdersDeadLetters")[1]["QueueArn"])
        # A queue in the place of the function shows what comes.
        seen = sqs.create_queue(QueueName="seen")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=seen, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        events.remove_targets(Rule=rule, EventBusName=bus, Ids=[target["Id"]])
        events.put_targets(Rule=rule, EventBusName=bus, Targets=[{"Id": "seen", "Arn": arn}])

        def put(source, kind, on):
            entry = {"Source": source, "DetailType": kind, "Detail": "{}", "EventBusName": on}
            self.assertEqual(events.put_events(Entries=[entry])["FailedEntryCount"], 0)

        put("com.example.orders", "OrderPaid", bus)
        put("com.example.orders", "OrderLost", bus)
        put("com.example.parcels", "OrderPaid", bus)
        put("com.example.orders", "OrderPaid", "default")
        came = sqs.receive_message(QueueUrl=seen, MaxNumberOfMessages=10)["Messages"]
        self.assertEqual([json.loads(message["Body"])["detail-type"] for message in came], ["OrderPaid"])

    def test_a_role_is_created_with_two_policies_of_its_own_and_none_of_others(self):
        iam = client("iam")
        for function in CALLS:
            role = self.physical[f"{function}Role"]
            self.assertEqual(iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"], [])
            self.assertEqual(sorted(iam.list_role_policies(RoleName=role)["PolicyNames"]), ["calls", "platform"])
            principal = iam.get_role(RoleName=role)["Role"]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]
            self.assertEqual(principal, {"Service": "lambda.amazonaws.com"})


if __name__ == "__main__":
    unittest.main()
