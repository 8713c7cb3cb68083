-- An error value without a position.
expect(true)
error { code = 7 }
