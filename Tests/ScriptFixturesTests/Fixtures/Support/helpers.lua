return { double = function(n) return 2 * n end }
