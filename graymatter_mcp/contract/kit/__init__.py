"""The conformance kit: holds any server that claims this contract to its promises, from outside."""
