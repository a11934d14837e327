"""What each function may do. That it is enough, and no more than it asks for, is tested where the functions run: `tests/policies.rs`."""

import unittest

from stack import KEY, Stack

RECORDS = "IdempotencyTable"


def records(actions, *operations):
    """Of the table of records, the records of these operations."""
    return (actions, [RECORDS], {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"prod#{operation}#v*#*" for operation in operations]}})


# What functions ask for: actions, tables or other resources, conditions.
CALLS = {
    "PaymentsApi": [
        records(["dynamodb:PutItem"], "create-charge", "transfer", "place-order"),
        records(["dynamodb:GetItem"], "create-charge", "transfer"),
        records(["dynamodb:Query"], "place-order"),
        (["dynamodb:PutItem", "dynamodb:GetItem"], ["ChargesTable"], {}),
        (["dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:UpdateItem"], ["AccountsTable"], {}),
        (["dynamodb:PutItem"], ["LedgerTable", "ShopOrdersTable"], {}),
        (["dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:UpdateItem"], ["StockTable"], {}),
    ],
    "ClaimsIntake": [
        records(
            ["dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:Query", "dynamodb:BatchGetItem", "dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate"],
            "take-in-claim",
        ),
        (["dynamodb:BatchWriteItem"], ["ChunksTable"], {}),
        (["dynamodb:PutItem", "dynamodb:GetItem"], ["ClaimsTable"], {}),
    ],
    "OrderEvents": [
        records(["dynamodb:PutItem"], "follow-order"),
        (["dynamodb:PutItem"], ["OrdersTable"], {}),
    ],
    "OutboxRelay": [
        (
            ["dynamodb:UpdateItem"],
            [RECORDS],
            {
                "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["prod#*"]},
                "ForAllValues:StringEquals": {"dynamodb:Attributes": ["pk", "sk", "sent_at"]},
                "StringEqualsIfExists": {"dynamodb:ReturnValues": ["NONE"]},
            },
        ),
        (["dynamodb:Query"], [RECORDS], {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["prod#*"]}}),
        (["events:PutEvents"], ["event-bus/default"], {}),
    ],
    "Reconcile": [
        (["dynamodb:DescribeTable", "dynamodb:Scan"], [RECORDS, "ChargesTable", "LedgerTable", "ShopOrdersTable"], {}),
        (["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], ["Reports/*"], {}),
        (["s3:ListBucket"], ["Reports"], {}),
    ],
}

# What Lambda does in their name, besides writing their log.
PLATFORM = {
    "PaymentsApi": [],
    "ClaimsIntake": [(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"], ["ClaimsQueue"], {})],
    "OrderEvents": [(["sqs:SendMessage"], ["OrdersDeadLetters"], {})],
    "OutboxRelay": [
        (["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"], ["IdempotencyTable/stream/now"], {}),
        (["dynamodb:ListStreams"], ["IdempotencyTable/stream/*"], {}),
        (["sqs:SendMessage"], ["OutboxDeadLetters"], {}),
    ],
    "Reconcile": [],
}

KEY_ACTIONS = ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*", "kms:ReEncrypt*"]


def as_list(value):
    return value if isinstance(value, list) else [value]


def short(arn):
    """What an ARN names."""
    return arn.split(":", 5)[-1].removeprefix("table/").removeprefix("log-group:").removesuffix(":*")


def granted(role, policy):
    """The statements of a role's policy, in one form."""
    document, = [found["PolicyDocument"] for found in role["Policies"] if found["PolicyName"] == policy]
    assert document["Version"] == "2012-10-17"
    statements = []
    for statement in document["Statement"]:
        assert statement["Effect"] == "Allow" and set(statement) <= {"Effect", "Action", "Resource", "Condition"}, statement
        conditions = {
            operator: {key: as_list(values) for key, values in keys.items()} for operator, keys in statement.get("Condition", {}).items()
        }
        resources = [short(arn) for arn in as_list(statement["Resource"])]
        statements.append((as_list(statement["Action"]), resources, conditions))
    return statements


class Policies(unittest.TestCase):
    def roles(self, **parameters):
        """Each function's role, by the function's name."""
        stack = Stack("template.yaml", Namespace="prod", **parameters)
        roles, functions = stack.of_type("AWS::IAM::Role"), stack.of_type("AWS::Lambda::Function")
        found = {name: function["Role"].rsplit("/", 1)[1] for name, function in functions.items()}
        self.assertEqual(sorted(found.values()), sorted(roles), "a role for each function, and none besides")
        return {name: roles[role] for name, role in found.items()}

    def test_each_function_may_do_this_and_nothing_else(self):
        roles = self.roles()
        self.assertEqual(set(roles), set(CALLS))
        for name, role in roles.items():
            with self.subTest(name):
                self.assertEqual(granted(role, "calls"), CALLS[name])
                log = (["logs:CreateLogStream", "logs:PutLogEvents"], [f"{name}Logs"], {})
                self.assertEqual(granted(role, "platform"), [log, *PLATFORM[name]])
                self.assertEqual(set(role), {"AssumeRolePolicyDocument", "Policies"}, "no managed policy is attached")
                self.assertEqual(len(role["Policies"]), 2)

    def test_only_lambda_may_take_a_role_on(self):
        for name, role in self.roles().items():
            expected = [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}]
            self.assertEqual(role["AssumeRolePolicyDocument"]["Statement"], expected, name)

    def test_no_function_but_the_nightly_one_may_scan_and_none_may_delete_or_do_more_than_is_spelled_out(self):
        for name, role in self.roles(TableKeyArn=KEY, Tracing="Active", OutboxQueueArns="arn:aws:sqs:eu-central-1:123456789012:receipts").items():
            for actions, resources, _ in granted(role, "calls") + granted(role, "platform"):
                for action in actions:
                    self.assertNotIn(action, ["dynamodb:DeleteItem", "dynamodb:PartiQLDelete", "dynamodb:PartiQLSelect"], name)
                    # It reads every table from end to end, and does nothing else with any.
                    self.assertTrue(action != "dynamodb:Scan" or name == "Reconcile", name)
                    self.assertTrue("*" not in action or action in KEY_ACTIONS, f"{name} {action}")
                # "Actions, resources, and condition keys for AWS X-Ray" (Service Authorization Reference): none of them names a resource.
                self.assertTrue("*" not in resources or actions[0].startswith("xray:"), f"{name} {actions}")

    def test_every_statement_on_the_table_of_records_is_limited_to_keys_of_the_deployment(self):
        for name, role in self.roles().items():
            for actions, resources, conditions in granted(role, "calls"):
                if RECORDS in resources and name != "Reconcile":
                    keys = conditions["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
                    self.assertTrue(keys and all(key.startswith("prod#") for key in keys), f"{name} {actions}")
                    # Without any leading key in a request `ForAllValues` is true (IAM User Guide, "Multivalued context keys"), so no action
                    # may be among them that names no key.
                    keyless = {"dynamodb:Scan", "dynamodb:DescribeTable", "dynamodb:PartiQLSelect"}
                    self.assertFalse(keyless & set(actions), f"{name} {actions}")

    def test_a_customer_managed_key_may_be_used_through_dynamodb_only_and_without_one_no_key_may(self):
        for name, role in self.roles(TableKeyArn=KEY).items():
            expected = (KEY_ACTIONS, [KEY.split(":", 5)[-1]], {"StringEquals": {"kms:ViaService": ["dynamodb.eu-central-1.amazonaws.com"]}})
            self.assertEqual(granted(role, "calls"), [*CALLS[name], expected], name)
        for name, role in self.roles().items():
            self.assertNotIn("kms", str(role), name)

    def test_traces_may_be_sent_if_they_are_asked_for(self):
        expected = (["xray:PutTraceSegments", "xray:PutTelemetryRecords"], ["*"], {})
        for name, role in self.roles(Tracing="Active").items():
            self.assertEqual(granted(role, "platform")[-1], expected, name)
        for name, role in self.roles().items():
            self.assertNotIn("xray", str(role), name)

    def test_the_relay_may_send_to_the_queues_that_it_is_given(self):
        queues = "arn:aws:sqs:eu-central-1:123456789012:receipts,arn:aws:sqs:eu-central-1:123456789012:parcels"
        relay = self.roles(OutboxQueueArns=queues)["OutboxRelay"]
        self.assertIn((["sqs:SendMessage"], ["receipts", "parcels"], {}), granted(relay, "calls"))

    def test_a_function_of_ones_own_begins_with_its_records_only(self):
        stack = Stack("infra/your-function.yaml", TableStack="table", TableKeyArn=KEY)
        role, = stack.of_type("AWS::IAM::Role").values()
        self.assertNotIn("ManagedPolicyArns", role)
        calls, platform = role["Policies"]
        statements = calls["PolicyDocument"]["Statement"]
        logs, = platform["PolicyDocument"]["Statement"]
        self.assertEqual(logs["Action"], ["logs:CreateLogStream", "logs:PutLogEvents"])
        self.assertIn("MyOrdersLogs", str(logs["Resource"]))
        self.assertEqual(statements[0]["Action"], ["dynamodb:PutItem", "dynamodb:GetItem"])
        self.assertEqual(statements[0]["Resource"], "import:table-TableArn")
        keys = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": "import:table-Deployment#create-order#v*#*"}}
        self.assertEqual(statements[0]["Condition"], keys)
        self.assertEqual((statements[1]["Action"], statements[1]["Resource"]), (KEY_ACTIONS, KEY))


if __name__ == "__main__":
    unittest.main()
