"""The modelling language: from text to syntax tree to network.

syntax, tree_builder, syntax_tree, tree_walk            text → syntax tree (grammar: language.lark)
symbols, scopes, storage                                types, symbols, scopes, and the network under construction
resolve_names → _access → _calls → _expressions         expressions, by inheritance; folding folds constants
assignments, statements, nested_assignments             updates and function bodies
declarations, constant_calls, builtin_functions         declarations of variables and functions
template_resolver → edge_builder → process_builder      one process; process_instances makes them all
resolve, priorities, model_text                         a whole model: texts → network
"""
