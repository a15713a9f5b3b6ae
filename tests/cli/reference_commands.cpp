// The program's own account of itself: completion, man pages, version.
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tests/cli/command_test.h"

namespace psn {
namespace {

using test::slurp;

class ReferenceCommands : public test::CommandTest {
 protected:
  std::string shell(const std::string& line) const {
    std::ofstream(folder_ / "line") << line;
    const std::string whole = "cd '" + folder_.string() + "' && . ./line >said 2>&1";
    EXPECT_EQ(std::system(whole.c_str()), 0) << line << slurp(folder_ / "said");
    return slurp(folder_ / "said");
  }

  // What bash offers for the last of the words.
  std::set<std::string> completed(const std::string& words) const {
    std::ofstream(folder_ / "complete.bash")
        << "source ./script.bash\nCOMP_WORDS=(" << words
        << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_psn\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    std::ofstream(folder_ / "script.bash") << psn("completion bash").out;
    std::istringstream lines(shell("bash complete.bash"));
    std::set<std::string> offers;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) offers.insert(line);
    }
    return offers;
  }
};

using Offers = std::set<std::string>;

TEST_F(ReferenceCommands, BashCompletesCommandsOptionsAndValues) {
  EXPECT_EQ(completed("psn inf"), Offers{"infer"});
  EXPECT_EQ(completed("psn data ex"), Offers{"export"});
  EXPECT_EQ(completed("psn infer --engi"), Offers{"--engine"});
  EXPECT_EQ(completed("psn infer gaussian --engine l"), Offers{"lmh"});
  EXPECT_EQ(completed("psn infer gaussian --engine = l"), Offers{"lmh"});  // --engine=l, to bash
  EXPECT_EQ(completed("psn infer gaussian-m"), Offers{"gaussian-marsaglia"});
  EXPECT_EQ(completed("psn train i"), Offers{"inference"});
  EXPECT_EQ(completed("psn data export store --fir"), Offers{"--first"});
  EXPECT_TRUE(completed("psn infer --out fo").empty());  // a file, says bash by itself
  EXPECT_EQ(completed("psn ''").count("watch"), 1u);
}

TEST_F(ReferenceCommands, EveryOptionOfHelpIsCompleted) {
  for (const std::string command : {"infer", "train", "data generate", "summary"}) {
    const Offers offers = completed("psn " + command + " -");
    const std::string help = psn(command + " --help").out;
    const std::regex option("\n  (?:-[a-z],)?(--[a-z-]+)");
    int options = 0;
    for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at) {
      EXPECT_TRUE(offers.contains(at->str(1))) << command << " " << at->str(1);
      ++options;
    }
    EXPECT_GT(options, 5) << command;
  }
}

TEST_F(ReferenceCommands, FishAndZshTakeTheirScripts) {
  std::ofstream(folder_ / "psn.fish") << psn("completion fish").out;
  const std::string engines =
      shell("fish --no-config -c 'source psn.fish; complete -C \"psn infer --engine l\"'");
  EXPECT_TRUE(engines.starts_with("lmh\t")) << engines;
  EXPECT_EQ(std::count(engines.begin(), engines.end(), '\n'), 1) << engines;
  const std::string commands =
      shell("fish --no-config -c 'source psn.fish; complete -C \"psn data \"'");
  EXPECT_NE(commands.find("verify\tread all of a store"), std::string::npos) << commands;
  EXPECT_EQ(commands.find("infer"), std::string::npos);
  std::ofstream(folder_ / "_psn") << psn("completion zsh").out;
  EXPECT_EQ(shell("zsh -f -c 'autoload -U compinit; compinit -D; source ./_psn; "
                  "print $_comps[psn]'"),
            "_psn_\n");
  expect_error("completion tcsh", 64, "tcsh");
}

TEST_F(ReferenceCommands, ManPagesOfAllCommands) {
  const std::string page = psn("man data generate").out;
  for (const char* part : {".TH PSN\\-DATA\\-GENERATE 1", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS",
                           "\\fB\\-\\-commit\\-every\\fR", ".SH EXIT STATUS", ".BR psn (1)"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  EXPECT_NE(psn("man").out.find("130 interrupted"), std::string::npos);
  ASSERT_EQ(psn("man --out pages").code, 0);
  EXPECT_EQ(slurp(folder_ / "pages" / "psn-data-generate.1"), page);
  for (const char* name : {"psn", "psn-infer", "psn-data", "psn-man"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_ / "pages" / (name + std::string(".1")))) << name;
  }
  EXPECT_EQ(psn("man infer").out.find("\\-\\-stack\\-size\\fR 0"), std::string::npos);
  expect_error("man infre", 64, "unknown command 'infre'; did you mean 'infer'?");
}

// What the site's reference is made of.
TEST_F(ReferenceCommands, PagesOfAllCommandsInMarkdown) {
  ASSERT_EQ(psn("man --format markdown --out pages").code, 0);
  const std::string page = slurp(folder_ / "pages" / "psn-infer.md");
  for (const char* part :
       {"# psn infer\n", "\npsn infer model [OPTIONS]\n", "| `-n`, `--samples` |",
        "| `--engine` | `auto`, `is`, `ic`,", "| `--seed` |"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  const std::string top = slurp(folder_ / "pages" / "psn.md");
  EXPECT_NE(top.find("[`data`](psn-data.md)"), std::string::npos) << top;
  // Every row of every table has as many cells: what is special in descriptions is escaped.
  const std::regex row("(^|\n)\\|([^\n]*)"), bar("(^|[^\\\\])\\|");
  for (const auto& file : std::filesystem::directory_iterator(folder_ / "pages")) {
    const std::string text = slurp(file.path());
    for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
      const std::string cells = at->str(2);
      const auto bars = std::distance(std::sregex_iterator(cells.begin(), cells.end(), bar),
                                      std::sregex_iterator());
      EXPECT_TRUE(bars == 2 || bars == 4) << file.path() << ": " << cells;
    }
  }
}

TEST_F(ReferenceCommands, VersionHasTheFactsOfTheBuild) {
  const std::string version = psn("--version").out;
  EXPECT_TRUE(std::regex_search(version, std::regex("^psn [0-9]+\\.[0-9]+\\.[0-9]+\n"))) << version;
  for (const char* part : {"compiler", "build", "vectors", "libraries", "oneDNN ", "ZeroMQ "}) {
    EXPECT_NE(version.find(part), std::string::npos) << version;
  }
}

}  // namespace
}  // namespace psn
