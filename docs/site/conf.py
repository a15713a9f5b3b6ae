# How sphinx makes the site: scripts/docs.
project = "psn"
html_title = "psn"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["site"]
html_theme = "furo"
myst_heading_anchors = 4
highlight_language = "none"  # of blocks that do not say
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
# Summaries of what is found are fetched page by page, which a browser does not do from disk; found
# titles and headings do without.
html_show_search_summary = False
