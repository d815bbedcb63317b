region = "eu-west-1"

# Replace it by your own: an issuer that does not exist lets nobody in.
issuers = [{
  issuer   = "https://issuer.example.com/"
  audience = ["gateway"]
  jwks_url = "https://issuer.example.com/.well-known/jwks.json"
}]
