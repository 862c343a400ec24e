return suite { "open", 
