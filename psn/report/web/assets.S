// Files put into the library as they are; the build says in which folders they are.
  .section .rodata
.macro asset name, file
  .global psn_\name, psn_\name\()_end
  .hidden psn_\name, psn_\name\()_end
psn_\name:
  .incbin "\file"
psn_\name\()_end:
  .byte 0
.endm
  asset page, page.html
  asset style, report.css
  asset script, report.js
  asset export, export.js
  asset vega, vega.min.js
  asset vega_lite, vega-lite.min.js
  asset vega_embed, vega-embed.min.js
  .section .note.GNU-stack, "", %progbits
