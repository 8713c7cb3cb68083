local support = require "Support.raising"

support.check()
