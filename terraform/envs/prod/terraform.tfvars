region = "eu-west-1"

# Uncomment both. Without an address, or a subscription of your own to the topic, alarms page nobody.
# account_id  = "123456789012"
# page_emails = ["on-call@example.com"]

# Who deploys; changes of the tenants' role by anybody else page.
# deployment_role_arns = ["arn:aws:iam::123456789012:role/deploy"]

# Replace it by your own: an issuer that does not exist lets nobody in.
issuers = [{
  issuer   = "https://issuer.example.com/"
  audience = ["gateway"]
  jwks_url = "https://issuer.example.com/.well-known/jwks.json"
}]
