"""The modelling language: from text to syntax tree to network.

syntax, tree_builder, syntax_tree, tree_search          text → syntax tree (grammar: language.lark)
typed_symbols, scopes, storage                          types, symbols, scopes, and the network under construction
resolve_names → _access → _channels → _calls            expressions, by inheritance; folding folds constants
→ _wholes → _expressions
assignments → side_effects → statements                 updates and function bodies
declarations, constant_calls, builtin_functions         declarations of variables and functions
template_resolver → edge_builder → process_builder      one process; process_instances makes them all
resolve, model_text, initial_draws                      a whole model: texts → network
priority_levels, priorities                             priorities become guards
"""
