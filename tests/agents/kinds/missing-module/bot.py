import alphahex

alphahex.Agent().run()
