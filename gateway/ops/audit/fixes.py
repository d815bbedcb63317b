"""How to fix a failed line: variables of the Terraform module `stack`, and commands."""

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
RECOVERY_DAYS: Final = "`table.recovery_days`: 35, or at least 7"
STREAM: Final = "`table.stream_view_type`: `NEW_AND_OLD_IMAGES`"
ENCRYPTION: Final = "`terraform apply`: the module `table` encrypts with the data key of the module `kms`"
KEY_STATE: Final = "docs/runbooks/key-changes.md"
ROTATION: Final = "`keys.rotation_days`: 365"
PROTECTION: Final = "`table.deletion_protection`: true"
ENDPOINT: Final = "`network.existing`: the route tables of the gateway's subnets; or `network.create`"
VPC: Final = "name the gateway's VPC: `--vpc`, or `--config` with the output `audit_config` of Terraform"
ENDPOINT_POLICY: Final = "`terraform apply`: the module `network` installs policies/vpc-endpoint.json"
ALARMS: Final = (
    "`terraform apply`: the module `observability` creates every alarm; `alarms.latency_ms` lists operations"
)
DELIVERY: Final = "`alarms.actions_enabled`: true, with addresses in `alarms.page_emails` and `alarms.notice_emails`"
ROLES: Final = "`terraform apply`: the module `iam` installs the documents of policies/ and detaches all others"
TABLE_POLICY: Final = "remove it: `aws dynamodb delete-resource-policy --resource-arn <arn of the table>`"
TABLE: Final = "`terraform apply`, with `table_file` as `gateway terraform-inputs` prints it"
POLICIES: Final = "`gateway policies`, review the difference, then `terraform apply`"
PAGE: Final = "`gateway docs`"
MODEL: Final = "the declaration of the entity in your domain"
SHARDS: Final = "`shards` of the key in your domain; see `gateway capacity`"
SCANS: Final = "find the caller in CloudTrail (module `audit`), and use an access pattern instead"
