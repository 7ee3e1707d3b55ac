// One script for both shells: commands and flags come from the program's own help, names from the hub.
#include "cli/completion_command.h"

#include <cstdio>
#include <string>

#include "base/strings.h"
#include "cli/flags.h"

namespace baton::cli {
namespace {

constexpr const char* kHelp =
    "Usage: baton completion bash|zsh\n"
    "\n"
    "Prints what the shell needs to complete `baton` and `kubectl-baton`: commands, flags, and live names of "
    "clusters,\n"
    "migrations and workloads, asked of the hub that the command line names.\n"
    "\n"
    "Examples:\n"
    "  source <(baton completion bash)\n"
    "  source <(baton completion zsh)\n"
    "  baton completion bash > /etc/bash_completion.d/baton\n"
    "  baton completion zsh > \"${fpath[1]}/_baton\"        # read by compinit, in new shells\n";

constexpr const char* kScript = R"SHELL(
_baton_hub_flags() {  # those of the line that say which hub is meant
  local i out=()
  for ((i = 1; i < ${#COMP_WORDS[@]} - 1; i++)); do
    case "${COMP_WORDS[i]}" in
      --kubeconfig|--context|-n|--namespace) out+=("${COMP_WORDS[i]}" "${COMP_WORDS[i+1]}") ;;
      --kubeconfig=*|--context=*|--namespace=*) out+=("${COMP_WORDS[i]}") ;;
    esac
  done
  printf '%s\n' "${out[@]}"
}
_baton_names() {  # of migrations, clusters, writers: as the hub has them now
  local hub=() line
  while IFS= read -r line; do [ -n "$line" ] && hub+=("$line"); done < <(_baton_hub_flags)
  "${COMP_WORDS[0]}" get "$1" -o name "${hub[@]}" 2>/dev/null | sed 's|.*/||'
}
_baton() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  *.*/\1/p')" -- "$current"))
    return
  fi
  case "$before" in
    --to|--cluster) COMPREPLY=($(compgen -W "$(_baton_names clusters)" -- "$current")); return ;;
    --kubeconfig|-f|--data-dir|--object|--observed|--from|--save) COMPREPLY=($(compgen -f -- "$current")); return ;;
    -o|--output) COMPREPLY=($(compgen -W "json yaml name wide" -- "$current")); return ;;
  esac
  local help=("$command")
  if [[ $command == plan || $command == simulate ]]; then  # of a move or a drain: then as those
    if [ "$COMP_CWORD" -eq 2 ] && [[ $current != -* ]]; then
      COMPREPLY=($(compgen -W "migrate drain" -- "$current"))
      return
    fi
    if [[ ${COMP_WORDS[2]} == migrate || ${COMP_WORDS[2]} == drain ]]; then
      help+=("${COMP_WORDS[2]}")
      command=${COMP_WORDS[2]}
    fi
  fi
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" "${help[@]}" -h 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)" -- "$current"))
    return
  fi
  case "$command" in
    drain|uncordon|undrain|unjoin) COMPREPLY=($(compgen -W "$(_baton_names clusters)" -- "$current")) ;;
    abort|approve|attest|pause|resume) COMPREPLY=($(compgen -W "$(_baton_names migrations)" -- "$current")) ;;
    migrate|undo|history|verify|status)
      # A Writer is named after its workload: name-kind.
      COMPREPLY=($(compgen -W "$(_baton_names writers | sed 's|^\(.*\)-\([a-z]*\)$|\2/\1|')" -- "$current")) ;;
    get) COMPREPLY=($(compgen -W "migrations writers clusters" -- "$current")) ;;
    completion) COMPREPLY=($(compgen -W "bash zsh" -- "$current")) ;;
  esac
}
)SHELL";

// zsh reads the script as it is with its own bashcompinit. The first line is for compinit, which finds the script as
// _baton in a folder of fpath and then runs it as the function of that name, for the first Tab.
constexpr const char* kZshBegins = R"SHELL(#compdef baton kubectl-baton
if ! (( $+functions[compdef] )); then autoload -U +X compinit && compinit -i; fi
autoload -U +X bashcompinit && bashcompinit
)SHELL";
constexpr const char* kZshEnds = R"SHELL(if [ "${funcstack[1]}" = _baton ]; then _bash_complete -F _baton; fi
)SHELL";

}  // namespace

int CompletionCommand(std::span<const std::string_view> arguments) {
  if (AsksForHelp(arguments)) return std::fputs(kHelp, stdout) >= 0 ? 0 : kFailed;
  if (arguments.size() != 1 || (arguments[0] != "bash" && arguments[0] != "zsh"))
    return UsageError("completion", InvalidError("which shell? bash or zsh"));
  std::string script;
  if (arguments[0] == "zsh") script += kZshBegins;
  script += kScript;
  script += "complete -F _baton baton kubectl-baton\n";
  if (arguments[0] == "zsh") script += kZshEnds;
  return std::fputs(script.c_str(), stdout) >= 0 ? 0 : kFailed;
}

}  // namespace baton::cli
