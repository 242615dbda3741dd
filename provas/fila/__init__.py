"""The five proofs of the queue: the peak is absorbed, a poison message is isolated, an effect happens once."""
