# Completion of protocom and protocom-serve for fish: commands, their options, files. What there is, the programs say themselves.
function __protocom_commands
  sed -nE '/^Subcommands.*:$/,/^$/s/^  ([a-z][a-z-]*)  +(.*)/\1\t\2/p'
end
# The text of an option stands behind it, or on the lines below.
function __protocom_options
  awk -v by=\t '
    name != "" && /^ / && substr($0, 1, 38) ~ /^ *$/ { sub(/^ */, ""); text = text (text == "" ? "" : " ") $0; next }
    name != "" { print name by text; name = "" }
    /^  (-[a-z],)?--[a-z]/ { name = $1; sub(/^-[a-z],/, "", name); text = substr($0, 39) }
    END { if (name != "") print name by text }'
end
function __protocom_offers
  set -l words (commandline -opc)
  set -l commands
  # A word is a command as long as the ones before it have that one.
  for word in $words[2..-1]
    string match -qr '^[a-z]' -- $word; or continue
    if $words[1] $commands --help 2>/dev/null | __protocom_commands | cut -f 1 | grep -qxF -- $word
      set -a commands $word
    end
  end
  set -l of __protocom_commands
  string match -q -- '-*' (commandline -ct); and set of __protocom_options
  $words[1] $commands --help 2>/dev/null | $of
end
complete -c (string replace -r '[.]fish$' '' -- (status basename)) -a '(__protocom_offers)'
