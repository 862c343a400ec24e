local t = tabel { "t" }
