"""Every alarm: its metric, its threshold, what it does and what it says. And that there is one for every function and every queue of dead
letters."""

import json
import re
import unittest

from stack import REGION, ROOT, TOPIC, Stack, json_body

METRICS = json.loads((ROOT / "infra/metrics.json").read_text())

# The dimensions that AWS publishes these metrics with: Amazon DynamoDB Developer Guide, "DynamoDB metrics and dimensions"; AWS Lambda Developer
# Guide, "Viewing metrics for Lambda functions"; Amazon SQS Developer Guide, "Available CloudWatch metrics".
OF_AWS = {
    ("AWS/DynamoDB", "ConsumedWriteCapacityUnits"): ["TableName"],
    ("AWS/DynamoDB", "ConsumedReadCapacityUnits"): ["TableName"],
    ("AWS/DynamoDB", "ReadThrottleEvents"): ["TableName"],
    ("AWS/DynamoDB", "WriteThrottleEvents"): ["TableName"],
    ("AWS/DynamoDB", "SystemErrors"): ["TableName", "Operation"],
    ("AWS/Lambda", "Errors"): ["FunctionName"],
    ("AWS/Lambda", "Throttles"): ["FunctionName"],
    ("AWS/Lambda", "Duration"): ["FunctionName"],
    ("AWS/Lambda", "IteratorAge"): ["FunctionName"],
    ("AWS/SQS", "ApproximateNumberOfMessagesVisible"): ["QueueName"],
}

OURS = "LambdaIdempotency"
IDLE, LAST, SILENT = "notBreaching", "ignore", "breaching"


def single(metric, statistic, period, threshold, periods, missing, comparison="GreaterThanThreshold"):
    return dict(metrics=[metric], statistic=statistic, period=period, comparison=comparison, threshold=threshold, periods=periods, missing=missing)


def rate(expression, metrics, period, threshold, periods, missing):
    return dict(
        metrics=metrics, expression=expression, statistic="Sum", period=period, comparison="GreaterThanThreshold",
        threshold=threshold, periods=periods, missing=missing,
    )


def one(name):
    """More than none of them within five minutes."""
    return single((OURS, name), "Sum", 300, 0, 1, IDLE)


# Periods are in seconds.
PROMISED = {
    "ReplayRate": rate(
        "IF(requests >= 100, 100 * FILL(replays, 0) / requests, 0)", [(OURS, "Replay"), (OURS, "Requests")], 300, 2, 3, IDLE
    ),
    "Mismatch": single((OURS, "Mismatch"), "Sum", 300, 0, 3, IDLE),
    "Uncertain": one("Uncertain"),
    "Superseded": one("Superseded"),
    "CompletionUnconfirmed": one("CompletionUnconfirmed"),
    "StoreUnavailable": one("StoreUnavailable"),
    "CommitRefused": one("CommitRefused"),
    "CompensationStuck": one("CompensationStuck"),
    "CompensationLost": one("CompensationLost"),
    "Unprotected": one("Unprotected"),
    "DuplicateEffects": rate(
        "IF(writes > 0, 100 * FILL(duplicates, 0) / writes, 0)",
        [(OURS, "DuplicateEffects"), (OURS, "ReconciledWrites")], 3600, 0.01, 1, LAST,
    ),
    "ReconciliationMissing": single((OURS, "ReconciledWrites"), "SampleCount", 3600, 1, 29, SILENT, "LessThanThreshold"),
    "TableBytes": single((OURS, "TableBytes"), "Maximum", 3600, 107374182400, 1, LAST),
    "Throttles": rate(
        "SUM(METRICS())", [("AWS/DynamoDB", "ReadThrottleEvents"), ("AWS/DynamoDB", "WriteThrottleEvents")], 60, 0, 1, IDLE
    ),
    "SystemErrors": rate("SUM(METRICS())", [("AWS/DynamoDB", "SystemErrors")] * 7, 60, 0, 1, IDLE),
    # 4,000 a second.
    "ConsumedWrites": single(("AWS/DynamoDB", "ConsumedWriteCapacityUnits"), "Sum", 60, 4000 * 60, 5, IDLE),
}
RECONCILED = ["DuplicateEffects", "ReconciliationMissing", "TableBytes"]


def promised_of_a_function(timeout, dead_letters, stream):
    """`timeout` is in seconds."""
    promised = {
        "Errors": single(("AWS/Lambda", "Errors"), "Sum", 300, 0, 1, IDLE),
        "NearTimeout": single(("AWS/Lambda", "Duration"), "Maximum", 300, 0.8 * timeout * 1000, 1, IDLE),
        "Throttles": single(("AWS/Lambda", "Throttles"), "Sum", 300, 0, 1, IDLE),
    }
    if dead_letters:
        promised["DeadLetters"] = single(("AWS/SQS", "ApproximateNumberOfMessagesVisible"), "Maximum", 300, 0, 1, IDLE)
    if stream:
        promised["IteratorAge"] = single(("AWS/Lambda", "IteratorAge"), "Maximum", 60, 60000, 5, IDLE)
    return promised


def measured(alarm):
    """Metrics of an alarm as (namespace, name, dimensions), with their statistic and period."""
    if "Metrics" not in alarm:
        return [(alarm["Namespace"], alarm["MetricName"], alarm["Dimensions"], alarm["Statistic"], alarm["Period"])]
    stats = [query["MetricStat"] for query in alarm["Metrics"] if "MetricStat" in query]
    metrics = [(stat["Metric"], stat["Stat"], stat["Period"]) for stat in stats]
    return [(metric["Namespace"], metric["MetricName"], metric["Dimensions"], stat, period) for metric, stat, period in metrics]


def names(dimensions):
    return [dimension["Name"] for dimension in dimensions]


def alarms_of(part):
    return part.of_type("AWS::CloudWatch::Alarm")


def dead_letters_of(stack):
    """The names of queues that something is given up to."""
    queues = {queue["RedrivePolicy"]["deadLetterTargetArn"] for queue in stack.of_type("AWS::SQS::Queue").values() if "RedrivePolicy" in queue}
    for kind in ["AWS::Lambda::EventInvokeConfig", "AWS::Lambda::EventSourceMapping"]:
        given = [source["DestinationConfig"]["OnFailure"]["Destination"] for source in stack.of_type(kind).values() if source.get("DestinationConfig")]
        queues.update(given)
    for rule in stack.of_type("AWS::Events::Rule").values():
        queues.update(target["DeadLetterConfig"]["Arn"] for target in rule["Targets"] if "DeadLetterConfig" in target)
    return {arn.rsplit(":", 1)[1] for arn in queues}


class Alarms(unittest.TestCase):
    def assert_promised(self, part, promised):
        alarms = alarms_of(part)
        self.assertEqual(set(alarms), set(promised))
        for name, alarm in alarms.items():
            with self.subTest(name):
                metrics = measured(alarm)
                is_sum = [query for query in alarm.get("Metrics", []) if query.get("ReturnData", True)]
                found = dict(
                    metrics=[metric[:2] for metric in metrics],
                    statistic=metrics[0][3],
                    period=metrics[0][4],
                    comparison=alarm["ComparisonOperator"],
                    threshold=float(alarm["Threshold"]),
                    periods=alarm["EvaluationPeriods"],
                    missing=alarm["TreatMissingData"],
                )
                if is_sum:
                    self.assertEqual(len(is_sum), 1, "an alarm looks at one value")
                    found["expression"] = is_sum[0]["Expression"]
                self.assertEqual(found, promised[name])
                self.assertEqual(len({metric[3:] for metric in metrics}), 1, "all at the same statistic and period")
                self.assertEqual(alarm.get("DatapointsToAlarm", 1), alarm["EvaluationPeriods"], "sustained")

    def every_alarm(self, **parameters):
        for path in ["template.yaml", "infra/table-and-alarms.yaml", "infra/your-function.yaml"]:
            if path == "infra/your-function.yaml":
                parameters = {**parameters, "TableStack": "table"}
            for name, part in Stack(path, **parameters).parts().items():
                for alarm, properties in alarms_of(part).items():
                    yield f"{path} {name} {alarm}", properties

    def test_each_alarm_has_the_metric_and_the_threshold_that_is_promised(self):
        self.assert_promised(Stack("template.yaml").parts()["Alarms"], PROMISED)

    def test_a_stack_without_reconciliation_has_no_alarm_that_would_wait_for_it(self):
        promised = {name: promise for name, promise in PROMISED.items() if name not in RECONCILED}
        self.assert_promised(Stack("infra/table-and-alarms.yaml").parts()["Alarms"], promised)

    def test_each_function_has_its_alarms_near_its_own_timeout(self):
        for path, parameters in [("template.yaml", {}), ("infra/your-function.yaml", {"TableStack": "table"})]:
            stack = Stack(path, **parameters)
            parts = stack.parts()
            streams = [
                mapping["FunctionName"] for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values() if "StartingPosition" in mapping
            ]
            for name, function in stack.of_type("AWS::Lambda::Function").items():
                with self.subTest(f"{path} {name}"):
                    part = parts[f"{name}Alarms"]
                    given = part.parameters
                    self.assertEqual(given["FunctionName"], name)
                    promised = promised_of_a_function(function["Timeout"], given["DeadLettersName"], name in streams)
                    self.assert_promised(part, promised)

    def test_each_queue_of_dead_letters_has_an_alarm_that_names_it(self):
        stack = Stack("template.yaml")
        dead_letters = dead_letters_of(stack)
        self.assertEqual(dead_letters, {"ClaimsDeadLetters", "OrdersDeadLetters", "OutboxDeadLetters"})
        watched = {part.parameters["DeadLettersName"] for part in stack.parts().values() if "DeadLettersName" in part.parameters}
        self.assertEqual(watched - {""}, dead_letters)

    def test_alarms_are_about_the_deployment_and_the_table_of_their_stack(self):
        for path, parameter in [("template.yaml", "Namespace"), ("infra/table-and-alarms.yaml", "Deployment")]:
            part = Stack(path, **{parameter: "prod"}).parts()["Alarms"]
            for name, alarm in alarms_of(part).items():
                for namespace, _, dimensions, _, _ in measured(alarm):
                    expected = ("Deployment", "prod") if namespace == OURS else ("TableName", "IdempotencyTable")
                    self.assertEqual((dimensions[0]["Name"], dimensions[0]["Value"]), expected, f"{path} {name}")

    def test_every_metric_is_one_that_is_published_with_these_dimensions(self):
        published = {metric["name"]: metric["dimension_sets"] for metric in METRICS["metrics"]}
        for name, alarm in self.every_alarm():
            for namespace, metric, dimensions, _, _ in measured(alarm):
                if namespace == METRICS["namespace"]:
                    self.assertIn(names(dimensions), published.get(metric, []), name)
                else:
                    self.assertEqual(names(dimensions), OF_AWS[namespace, metric], name)

    def test_system_errors_are_added_up_over_every_operation_that_functions_may_ask_the_table_for(self):
        stack = Stack("template.yaml")
        operations = set()
        for role in stack.of_type("AWS::IAM::Role").values():
            calls, = [policy for policy in role["Policies"] if policy["PolicyName"] == "calls"]
            for statement in calls["PolicyDocument"]["Statement"]:
                if str(statement["Resource"]).endswith("table/IdempotencyTable"):
                    actions = statement["Action"]
                    operations.update(actions if isinstance(actions, list) else [actions])
        # Statements come in batches, and writes in transactions too.
        by_operation = {"dynamodb:PartiQLInsert": "BatchExecuteStatement", "dynamodb:PartiQLUpdate": "BatchExecuteStatement"}
        asked = {by_operation.get(action, action.removeprefix("dynamodb:")) for action in operations} | {"TransactWriteItems"}
        alarm = alarms_of(stack.parts()["Alarms"])["SystemErrors"]
        watched = {dimensions[1]["Value"] for _, _, dimensions, _, _ in measured(alarm)}
        self.assertLessEqual(asked - {"Scan", "DescribeTable"}, watched)

    def test_an_alarm_tells_the_topic_if_there_is_one(self):
        for name, alarm in self.every_alarm(AlarmTopicArn=TOPIC):
            self.assertEqual(alarm["AlarmActions"], [TOPIC], name)
        for name, alarm in self.every_alarm():
            self.assertNotIn("AlarmActions", alarm, name)

    def test_an_alarm_says_what_it_means_and_is_short_enough_to_be_stored(self):
        for name, alarm in self.every_alarm():
            description = alarm["AlarmDescription"]
            self.assertGreaterEqual(len(description.split(". ")), 2, name)
            # CloudWatch API Reference, "PutMetricAlarm": 1024 characters.
            self.assertLessEqual(len(description), 1024, name)
            self.assertNotIn("${", description)

    def test_silence_is_told_later_than_the_longest_that_is_between_two_nights_comparisons(self):
        stack = Stack("template.yaml")
        rule = stack.of_type("AWS::Events::Rule")["ReconcileNightly"]
        first, last = map(int, re.fullmatch(r"cron\(0/15 (\d+)-(\d+) \* \* \? \*\)", rule["ScheduleExpression"]).groups())
        # From the beginning of the first invocation to the end of the last one, which comes a quarter of an hour before the hour is over.
        longest = 24 + last + 1 - first
        self.assertLessEqual(stack.of_type("AWS::Lambda::Function")["Reconcile"]["Timeout"], 15 * 60)
        alarm = stack.parts()["Alarms"].of_type("AWS::CloudWatch::Alarm")["ReconciliationMissing"]
        self.assertEqual(alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"])
        self.assertGreater(alarm["EvaluationPeriods"] * alarm["Period"], longest * 3600)

    def test_an_alarm_looks_no_further_back_than_cloudwatch_allows(self):
        for name, alarm in self.every_alarm():
            period = measured(alarm)[0][4]
            # CloudWatch API Reference, "PutMetricAlarm", Period.
            most = 604800 if period >= 3600 else 86400
            self.assertLessEqual(period * alarm["EvaluationPeriods"], most, name)

    def test_a_part_of_a_template_that_is_said_to_exist_in_a_description_exists(self):
        for name, alarm in self.every_alarm():
            description = alarm["AlarmDescription"]
            if "docs/guide/http.md" in description:
                section = description.split('docs/guide/http.md, "')[1].split('"')[0]
                self.assertIn(f"# {section}\n", (ROOT / "docs/guide/http.md").read_text(), name)


class Dashboard(unittest.TestCase):
    def setUp(self):
        self.stack = Stack("template.yaml", Namespace="prod")
        parts = self.stack.parts()
        dashboard, = parts["Dashboard"].of_type("AWS::CloudWatch::Dashboard").values()
        self.widgets = json_body(dashboard["DashboardBody"])["widgets"]
        self.alarms = {f"{name} {alarm}": properties for name, part in parts.items() for alarm, properties in alarms_of(part).items()}
        rows = [row for widget in self.widgets for row in widget["properties"]["metrics"]]
        # The last member may be options.
        self.shown = {tuple(item for item in row if isinstance(item, str)) for row in rows} - {()}

    def test_it_shows_the_metric_of_every_alarm(self):
        for name, alarm in self.alarms.items():
            for namespace, metric, dimensions, _, _ in measured(alarm):
                row = (namespace, metric, *(text for dimension in dimensions for text in (dimension["Name"], dimension["Value"])))
                self.assertIn(row, self.shown, name)

    def test_it_shows_nothing_that_is_not_published(self):
        published = {metric["name"]: metric["dimension_sets"] for metric in METRICS["metrics"]}
        for namespace, metric, *dimensions in self.shown:
            if namespace == METRICS["namespace"]:
                self.assertIn(dimensions[::2], published.get(metric, []), metric)
            else:
                self.assertEqual(dimensions[::2], OF_AWS[namespace, metric], metric)

    def test_every_metric_of_the_functions_is_on_it(self):
        shown = {metric for namespace, metric, *_ in self.shown if namespace == METRICS["namespace"]}
        self.assertEqual(shown, {metric["name"] for metric in METRICS["metrics"]})

    def test_its_widgets_do_not_lie_over_each_other(self):
        cells = [
            (x, y)
            for widget in self.widgets
            for x in range(widget["x"], widget["x"] + widget["width"])
            for y in range(widget["y"], widget["y"] + widget["height"])
        ]
        self.assertEqual(len(cells), len(set(cells)))
        self.assertTrue(all(x < 24 for x, _ in cells), "a dashboard has 24 columns")
        self.assertEqual({widget["properties"]["region"] for widget in self.widgets}, {REGION})


if __name__ == "__main__":
    unittest.main()
