for i = 1, 1000 do expect(false, i) end
