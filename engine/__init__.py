"""What runs on a developer's machine: build of the artifact, local engine, deploy, one-handler runs."""
