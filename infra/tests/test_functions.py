"""The functions, their sources, queues, rules and logs; and the templates of a user's own."""

import json
import unittest

from stack import ROOT, TOPIC, Stack, source

FUNCTIONS = {"PaymentsApi": "payments-api", "ClaimsIntake": "claims-intake", "OrderEvents": "order-events", "OutboxRelay": "outbox-relay", "Reconcile": "reconcile"}


class Functions(unittest.TestCase):
    def setUp(self):
        self.stack = Stack("template.yaml")
        self.functions = self.stack.of_type("AWS::Lambda::Function")

    def test_each_function_is_built_from_its_package(self):
        written = source("template.yaml")["Resources"]
        built = {}
        for name, resource in written.items():
            if resource["Type"] == "AWS::Serverless::Function":
                self.assertEqual(resource["Metadata"]["BuildMethod"], "rust-cargolambda")
                built[name] = resource["Metadata"]["BuildProperties"]["Binary"]
                self.assertEqual(resource["Properties"]["CodeUri"], f"functions/{built[name]}")
                self.assertIn(f'name = "{built[name]}"\n', (ROOT / "functions" / built[name] / "Cargo.toml").read_text())
        self.assertEqual(built, FUNCTIONS)
        for name, function in self.functions.items():
            self.assertEqual((function["Runtime"], function["Handler"]), ("provided.al2023", "bootstrap"), name)

    def test_the_architecture_is_a_parameter(self):
        for architecture in ["arm64", "x86_64"]:
            functions = Stack("template.yaml", Architecture=architecture).of_type("AWS::Lambda::Function")
            self.assertEqual({tuple(function["Architectures"]) for function in functions.values()}, {(architecture,)})

    def test_each_function_knows_the_table_and_the_deployment(self):
        for name, function in Stack("template.yaml", Namespace="prod").of_type("AWS::Lambda::Function").items():
            variables = function["Environment"]["Variables"]
            self.assertEqual((variables["IDEMPOTENCY_TABLE"], variables["IDEMPOTENCY_NAMESPACE"]), ("IdempotencyTable", "prod"), name)

    def test_each_function_writes_a_log_of_its_own_that_is_kept_as_long_as_is_said(self):
        stack = Stack("template.yaml", LogRetentionDays="14")
        groups = stack.of_type("AWS::Logs::LogGroup")
        for name, function in stack.of_type("AWS::Lambda::Function").items():
            self.assertEqual(function["LoggingConfig"], {"LogGroup": f"{name}Logs"})
            self.assertEqual(groups[f"{name}Logs"], {"RetentionInDays": "14"})

    def test_x_ray_is_off_until_it_is_asked_for(self):
        for tracing in ["PassThrough", "Active"]:
            parameters = {} if tracing == "PassThrough" else {"Tracing": tracing}
            for name, function in Stack("template.yaml", **parameters).of_type("AWS::Lambda::Function").items():
                self.assertEqual(function["TracingConfig"], {"Mode": tracing}, name)

    def test_concurrency_is_reserved_for_the_function_that_it_is_asked_for(self):
        self.assertFalse([name for name, function in self.functions.items() if "ReservedConcurrentExecutions" in function])
        for name in self.functions:
            for reserved in ["0", "7"]:
                functions = Stack("template.yaml", **{f"{name}Concurrency": reserved}).of_type("AWS::Lambda::Function")
                found = {other: function["ReservedConcurrentExecutions"] for other, function in functions.items() if "ReservedConcurrentExecutions" in function}
                self.assertEqual(found, {name: reserved})
        with self.assertRaises(AssertionError):
            Stack("template.yaml", PaymentsApiConcurrency="-2")


class Sources(unittest.TestCase):
    def setUp(self):
        self.stack = Stack("template.yaml")

    def test_the_api_asks_for_a_token_at_every_route(self):
        api, = self.stack.of_type("AWS::ApiGatewayV2::Api").values()
        body = api["Body"]
        scheme, = body["components"]["securitySchemes"].values()
        authorizer = scheme["x-amazon-apigateway-authorizer"]
        self.assertEqual(authorizer["jwtConfiguration"], {"issuer": "https://issuer.example.com/", "audience": ["payments"]})
        routes = {(method, path): route for path, methods in body["paths"].items() for method, route in methods.items()}
        self.assertEqual(
            set(routes),
            {
                ("post", "/charges"), ("post", "/transfers"), ("post", "/orders"), ("put", "/stock/{sku}"), ("put", "/accounts/{id}"),
                ("get", "/accounts/{id}"), ("get", "/charges/idempotency/create-charge/{key}"), ("get", "/charges/{id}"),
            },
        )
        for name, route in routes.items():
            self.assertEqual(route["security"], [{"Jwt": []}], name)

    def test_the_queue_of_claims_comes_to_its_function_and_gives_up_to_its_dead_letters(self):
        queue = self.stack.of_type("AWS::SQS::Queue")["ClaimsQueue"]
        function = self.stack.of_type("AWS::Lambda::Function")["ClaimsIntake"]
        self.assertEqual(queue["VisibilityTimeout"], 6 * function["Timeout"])
        redrive = {"deadLetterTargetArn": "arn:aws:sqs:eu-central-1:123456789012:ClaimsDeadLetters", "maxReceiveCount": 5}
        self.assertEqual(queue["RedrivePolicy"], redrive)
        self.assertEqual(
            self.stack.of_type("AWS::Lambda::EventSourceMapping")["ClaimsIntakeClaims"],
            {
                "EventSourceArn": "arn:aws:sqs:eu-central-1:123456789012:ClaimsQueue",
                "FunctionName": "ClaimsIntake",
                "BatchSize": 10,
                "FunctionResponseTypes": ["ReportBatchItemFailures"],
                "ScalingConfig": {"MaximumConcurrency": "10"},
            },
        )

    def test_the_stream_comes_to_the_relay_in_order_and_without_other_deployments(self):
        mapping = self.stack.of_type("AWS::Lambda::EventSourceMapping")["OutboxRelayStaged"]
        pattern = json.loads(mapping["FilterCriteria"]["Filters"][0].pop("Pattern"))
        keys = {"pk": {"S": [{"prefix": "dev#"}]}, "sk": {"S": [{"prefix": "outbox#"}]}}
        self.assertEqual(pattern, {"eventName": ["INSERT"], "dynamodb": {"Keys": keys}})
        self.assertEqual(
            mapping,
            {
                "EventSourceArn": "arn:aws:dynamodb:eu-central-1:123456789012:table/IdempotencyTable/stream/now",
                "FunctionName": "OutboxRelay",
                "StartingPosition": "TRIM_HORIZON",
                "BatchSize": 100,
                "ParallelizationFactor": 1,
                "FilterCriteria": {"Filters": [{}]},
                "FunctionResponseTypes": ["ReportBatchItemFailures"],
                "BisectBatchOnFunctionError": True,
                "MaximumRetryAttempts": "100",
                "DestinationConfig": {"OnFailure": {"Destination": "arn:aws:sqs:eu-central-1:123456789012:OutboxDeadLetters"}},
            },
        )

    def test_events_of_orders_come_to_their_function_and_are_given_up_to_its_dead_letters(self):
        dead_letters = "arn:aws:sqs:eu-central-1:123456789012:OrdersDeadLetters"
        rule = self.stack.of_type("AWS::Events::Rule")["OrderEventsOrders"]
        self.assertEqual(rule["EventBusName"], "OrdersBus")
        self.assertEqual(
            rule["EventPattern"],
            {"source": ["com.example.orders"], "detail-type": ["OrderPlaced", "OrderPaid", "OrderCancelled"]},
        )
        target, = rule["Targets"]
        self.assertEqual(target["Arn"], "arn:aws:lambda:eu-central-1:123456789012:function:OrderEvents")
        self.assertEqual(target["DeadLetterConfig"], {"Arn": dead_letters})
        self.assertEqual(target["RetryPolicy"], {"MaximumEventAgeInSeconds": 86400, "MaximumRetryAttempts": 185})
        invoke = self.stack.of_type("AWS::Lambda::EventInvokeConfig")["OrderEventsEventInvokeConfig"]
        self.assertEqual(
            invoke,
            {
                "FunctionName": "OrderEvents",
                "Qualifier": "$LATEST",
                "MaximumRetryAttempts": 2,
                "MaximumEventAgeInSeconds": 21600,
                "DestinationConfig": {"OnFailure": {"Destination": dead_letters}},
            },
        )
        policy, = self.stack.of_type("AWS::SQS::QueuePolicy").values()
        self.assertEqual(policy["Queues"], ["https://sqs/OrdersDeadLetters"])
        statement, = policy["PolicyDocument"]["Statement"]
        self.assertEqual(
            statement,
            {
                "Effect": "Allow",
                "Principal": {"Service": "events.amazonaws.com"},
                "Action": "sqs:SendMessage",
                "Resource": dead_letters,
                "Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:events:eu-central-1:123456789012:rule/stack-orders/*"}},
            },
        )

    def test_effects_are_compared_every_night_in_as_many_invocations_as_it_takes(self):
        rule = self.stack.of_type("AWS::Events::Rule")["ReconcileNightly"]
        self.assertEqual(rule["ScheduleExpression"], "cron(0/15 2-5 * * ? *)")
        target, = rule["Targets"]
        # Without an input of its own the event tells the time, which names the run.
        self.assertEqual(set(target), {"Arn", "Id"})
        self.assertEqual(target["Arn"], "arn:aws:lambda:eu-central-1:123456789012:function:Reconcile")
        invoke = self.stack.of_type("AWS::Lambda::EventInvokeConfig")["ReconcileEventInvokeConfig"]
        self.assertEqual((invoke["MaximumRetryAttempts"], invoke["MaximumEventAgeInSeconds"]), (0, 600))
        function = self.stack.of_type("AWS::Lambda::Function")["Reconcile"]
        self.assertLess(function["Timeout"], 15 * 60, "the next invocation comes when this one has ended")
        with self.assertRaises(AssertionError):
            Stack("template.yaml", ReconcileSchedule="nightly")

    def test_effects_are_looked_for_in_tables_of_the_stack_by_what_their_functions_write(self):
        variables = self.stack.of_type("AWS::Lambda::Function")["Reconcile"]["Environment"]["Variables"]
        self.assertEqual(variables["REPORT_URL"], "s3://Reports")
        tables = {table.pop("table"): table for table in json.loads(variables["EFFECT_TABLES"])}
        operations = {"ChargesTable": "create-charge", "LedgerTable": "transfer", "ShopOrdersTable": "place-order"}
        for name, operation in operations.items():
            self.assertEqual(
                tables.pop(name),
                {"business_key": ["idempotency_record"], "record": "idempotency_record", "created_at": "created_at", "operations": [operation]},
            )
            self.assertIn(name, self.stack.of_type("AWS::DynamoDB::Table"))
        self.assertEqual(tables, {})

    def test_reports_are_nobody_elses_and_are_forgotten_in_time(self):
        bucket = Stack("template.yaml", ReportRetentionDays="30").resources["Reports"]
        self.assertEqual((bucket["DeletionPolicy"], bucket["UpdateReplacePolicy"]), ("Retain", "Retain"))
        properties = bucket["Properties"]
        self.assertEqual(set(properties["PublicAccessBlockConfiguration"].values()), {True})
        rule, = properties["LifecycleConfiguration"]["Rules"]
        self.assertEqual((rule["Status"], rule["ExpirationInDays"], "Prefix" in rule), ("Enabled", "30", False))
        encryption, = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        self.assertEqual(encryption["ServerSideEncryptionByDefault"], {"SSEAlgorithm": "AES256"})

    def test_only_the_sources_of_a_function_may_invoke_it(self):
        permissions = self.stack.of_type("AWS::Lambda::Permission").values()
        for permission in permissions:
            self.assertIn("SourceArn", permission)
        principals = {(permission["FunctionName"], permission["Principal"]) for permission in permissions}
        self.assertEqual(principals, {("PaymentsApi", "apigateway.amazonaws.com"), ("OrderEvents", "events.amazonaws.com"), ("Reconcile", "events.amazonaws.com")})

    def test_every_queue_is_encrypted_and_outlives_its_stack_and_dead_letters_are_kept_as_long_as_can_be(self):
        for name, queue in self.stack.resources.items():
            if queue["Type"] == "AWS::SQS::Queue":
                self.assertEqual((queue["DeletionPolicy"], queue["UpdateReplacePolicy"]), ("Retain", "Retain"), name)
                self.assertTrue(queue["Properties"]["SqsManagedSseEnabled"], name)
                if "DeadLetters" in name:
                    self.assertEqual(queue["Properties"]["MessageRetentionPeriod"], 1209600, name)


class Parts(unittest.TestCase):
    def test_the_stack_is_made_of_these_parts_and_tells_them_whose_they_are(self):
        parts = Stack("template.yaml", Namespace="prod", AlarmTopicArn=TOPIC, TableBytesNotice="7").parts()
        self.assertEqual(set(parts), {"Alarms", "Dashboard", *(f"{name}Alarms" for name in FUNCTIONS)})
        alarms = {"Deployment": "prod", "TableName": "IdempotencyTable", "AlarmTopicArn": TOPIC, "TableBytesNotice": "7"}
        self.assertEqual({name: parts["Alarms"].parameters[name] for name in alarms}, alarms)
        self.assertEqual(parts["Dashboard"].parameters["FunctionNames"], list(FUNCTIONS))

    def test_parts_have_no_transform_and_no_roles_so_that_no_more_capabilities_are_asked_for(self):
        for name, part in Stack("template.yaml").parts().items():
            self.assertNotIn("Transform", part.template, name)
            self.assertTrue(set(part.types.values()) <= {"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"}, name)

    def test_a_function_of_ones_own_imports_what_the_stack_with_the_table_exports(self):
        table = Stack("infra/table-and-alarms.yaml")
        written = source("infra/table-and-alarms.yaml")["Outputs"].values()
        exported = {output["Export"]["Name"]["Fn::Sub"].replace("${AWS::StackName}", "table") for output in written}
        function = Stack("infra/your-function.yaml", TableStack="table")
        imported = {name.split("#")[0] for name in strings(function.resources) if name.startswith("import:")}
        self.assertTrue(imported)
        self.assertLessEqual({name.removeprefix("import:") for name in imported}, exported)
        self.assertEqual(set(table.types.values()), {"AWS::DynamoDB::Table", "AWS::CloudFormation::Stack"})
        self.assertEqual(table.parts()["Alarms"].parameters["Reconciliation"], "none")


def strings(value):
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in items for text in strings(item)]


if __name__ == "__main__":
    unittest.main()
