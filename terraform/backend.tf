# State in S3, locked by a file beside it. Bucket, key and region are the account's and come with
# `terraform init -backend-config=ambientes/<name>.backend.hcl`; see docs/deploy.md.
terraform {
  backend "s3" {
    encrypt      = true
    use_lockfile = true
  }
}
