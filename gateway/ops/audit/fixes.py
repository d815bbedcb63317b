"""What mends a failed line: variables of the Terraform module `stack`, and commands; in one place, to stay right."""

from typing import Final

MODE: Final = "`capacity.mode`: `on_demand`, or `provisioned` with bounds that hold the load"
BOUNDS: Final = "`capacity.provisioned`: raise `max` of `read` and `write`, or of the index in `indexes`"
LIMITS: Final = "`capacity.on_demand`: raise or remove the limit"
TARGET: Final = "`capacity.provisioned`: `target_percent = 70`, and every `min` below its `max`"
TTL: Final = "`table_file`: the output of `gateway terraform-inputs`, which names the TTL attribute"
RECOVERY: Final = (
    "`terraform apply`, which switches it on for `table.recovery_days`; or `aws dynamodb update-continuous-backups "
    "--table-name <table> --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true`"
)
PROTECTION: Final = "`table.deletion_protection`: true"
ENDPOINT: Final = "`network.existing`: the route tables of the gateway's subnets; or `network.create`"
ENDPOINT_POLICY: Final = "`terraform apply`: the module `network` installs policies/vpc-endpoint.json"
ALARMS: Final = "`terraform apply`: the module `observability` makes every alarm; `alarms.latency_ms` lists operations"
DELIVERY: Final = "`alarms.actions_enabled`: true, with addresses in `alarms.page_emails` and `alarms.notice_emails`"
ROLES: Final = "`terraform apply`: the module `iam` installs the documents of policies/ and takes off all others"
TABLE_POLICY: Final = "remove it: `aws dynamodb delete-resource-policy --resource-arn <arn of the table>`"
TABLE: Final = "`terraform apply`, with `table_file` as `gateway terraform-inputs` prints it"
POLICIES: Final = "`gateway policies`, review the difference, then `terraform apply`"
PAGE: Final = "`gateway docs`"
MODEL: Final = "the declaration of the entity in gateway/domains"
SHARDS: Final = "`shards` of the key in gateway/domains; see `gateway capacity`"
CODE: Final = "the code of the gateway: this is no setting"
SCANS: Final = "find the caller by CloudTrail (`audit`), and use an access pattern instead"
