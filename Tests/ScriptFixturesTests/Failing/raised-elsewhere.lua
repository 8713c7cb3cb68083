local support = require "Support.raising"
expect(true)
support.raise()
