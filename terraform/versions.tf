terraform {
  # 1.11: write-only arguments keep the gateway's API key out of the state.
  required_version = ">= 1.11.0"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100, < 7"
    }
  }
}
