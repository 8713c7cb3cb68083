print("obs-lua")
