"""The tables: what is promised of each, and what the store relies on."""

import unittest

from stack import KEY, Stack

IDEMPOTENCY_TABLES = {
    "template.yaml": "IdempotencyTable",
    "infra/table-and-alarms.yaml": "IdempotencyTable",
}


class Tables(unittest.TestCase):
    def tables(self, **parameters):
        for path in IDEMPOTENCY_TABLES:
            for name, resource in Stack(path, **parameters).resources.items():
                if resource["Type"] == "AWS::DynamoDB::Table":
                    yield f"{path} {name}", resource

    def test_every_table_outlives_its_stack_and_can_be_restored_to_any_second(self):
        for name, table in self.tables():
            with self.subTest(name):
                self.assertEqual((table["DeletionPolicy"], table["UpdateReplacePolicy"]), ("Retain", "Retain"))
                properties = table["Properties"]
                self.assertEqual(properties["PointInTimeRecoverySpecification"], {"PointInTimeRecoveryEnabled": True})
                self.assertEqual(properties["BillingMode"], "PAY_PER_REQUEST")

    def test_the_table_of_records_is_protected_against_deletion(self):
        protected = {name.split()[-1] for name, table in self.tables() if table["Properties"].get("DeletionProtectionEnabled")}
        self.assertEqual(protected, {"IdempotencyTable"})

    def test_every_table_is_encrypted_by_the_key_that_aws_manages(self):
        for name, table in self.tables():
            with self.subTest(name):
                self.assertEqual(table["Properties"]["SSESpecification"], {"SSEEnabled": True, "SSEType": "KMS"})

    def test_every_table_is_encrypted_by_the_key_of_the_user_if_there_is_one(self):
        for name, table in self.tables(TableKeyArn=KEY):
            with self.subTest(name):
                expected = {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY}
                self.assertEqual(table["Properties"]["SSESpecification"], expected)

    def test_a_key_that_is_no_arn_is_refused(self):
        for wrong in ["alias/mine", "11111111-2222-3333-4444-555555555555", KEY.replace("kms", "sns")]:
            with self.assertRaises(AssertionError):
                Stack("template.yaml", TableKeyArn=wrong)

    def test_the_table_of_records_expires_items_by_the_attribute_that_records_have_and_streams_new_images(self):
        for path, name in IDEMPOTENCY_TABLES.items():
            with self.subTest(path):
                table = Stack(path).of_type("AWS::DynamoDB::Table")[name]
                self.assertEqual(table["TimeToLiveSpecification"], {"AttributeName": "expires_at", "Enabled": True})
                self.assertEqual(table["StreamSpecification"], {"StreamViewType": "NEW_IMAGE"})
                keys = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
                self.assertEqual(table["KeySchema"], keys)

    def test_both_templates_have_the_same_table_of_records(self):
        tables = [Stack(path).resources[name] for path, name in IDEMPOTENCY_TABLES.items()]
        self.assertEqual(*tables)

    def test_records_of_effects_do_not_expire(self):
        for name, table in Stack("template.yaml").of_type("AWS::DynamoDB::Table").items():
            self.assertEqual("TimeToLiveSpecification" in table, name == "IdempotencyTable", name)


if __name__ == "__main__":
    unittest.main()
