// The model of a disk: its tree, its open files, and what a power cut does to them.
#include "rt/simulated_disk.h"

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/invariant.h"
#include "base/strings.h"
#include "rt/files_internal.h"

namespace baton::rt {

using files_internal::NameOf;
using files_internal::ParentOf;
using files_internal::SystemError;

namespace {

// The next name of a path, which is taken off it.
std::string_view TakeName(std::string_view& path) {
  const size_t slash = path.find('/');
  const std::string_view name = path.substr(0, slash);
  path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  return name;
}

}  // namespace

SimulatedDisk::SimulatedDisk() { inodes_[kRoot].is_directory = true; }

// ---- the tree ----

SimulatedDisk::InodeId SimulatedDisk::Lookup(InodeId directory, std::string_view name) const {
  const Entries& entries = inodes_.at(directory).entries;
  const auto found = entries.find(name);
  return found == entries.end() ? kNone : found->second;
}

std::expected<SimulatedDisk::InodeId, int> SimulatedDisk::Find(std::string_view path) const {
  if (path == ".") return kRoot;
  InodeId at = kRoot;
  do {
    const Inode& inode = inodes_.at(at);
    if (!inode.is_directory) return std::unexpected(ENOTDIR);
    const auto found = inode.entries.find(TakeName(path));
    if (found == inode.entries.end()) return std::unexpected(ENOENT);
    at = found->second;
  } while (!path.empty());
  return at;
}

std::expected<SimulatedDisk::InodeId, int> SimulatedDisk::FindDirectory(std::string_view path) const {
  const std::expected<InodeId, int> found = Find(path);
  if (found && !inodes_.at(*found).is_directory) return std::unexpected(ENOTDIR);
  return found;
}

bool SimulatedDisk::IsEmptyDirectory(InodeId inode) const {
  return inodes_.at(inode).is_directory && inodes_.at(inode).entries.empty();
}

std::set<SimulatedDisk::InodeId> SimulatedDisk::WayTo(std::string_view directory) const {
  std::set<InodeId> way;
  for (; directory != "."; directory = ParentOf(directory)) way.insert(Find(directory).value_or(kNone));
  return way;
}

SimulatedDisk::InodeId SimulatedDisk::Create(InodeId parent, std::string_view name, bool is_directory) {
  const InodeId inode = ++last_inode_;
  inodes_[inode].is_directory = is_directory;
  Do({.entries = {{Slot{parent, std::string(name)}, inode}}});
  return inode;
}

Result<SimulatedDisk::InodeId> SimulatedDisk::Open(std::string_view path, OpenMode mode) {
  constexpr std::string_view kWhat = "open";
  const auto parent = FindDirectory(ParentOf(path));
  if (!parent) return SystemError(kWhat, path, parent.error());
  InodeId file = Lookup(*parent, NameOf(path));
  if (file == kNone) {
    if (mode == OpenMode::kRead || mode == OpenMode::kAppend) return SystemError(kWhat, path, ENOENT);
    file = Create(*parent, NameOf(path), /*is_directory=*/false);
  } else if (mode == OpenMode::kCreate) {
    return SystemError(kWhat, path, EEXIST);
  } else if (inodes_.at(file).is_directory) {
    return SystemError(kWhat, path, EISDIR);
  }
  ++inodes_.at(file).opens;
  return file;
}

void SimulatedDisk::Close(InodeId file) { --inodes_.at(file).opens; }

Result<void> SimulatedDisk::MakeDirectory(std::string_view path) {
  constexpr std::string_view kWhat = "make the directory";
  if (path == ".") return {};
  InodeId at = kRoot;
  for (std::string_view rest = path; !rest.empty();) {
    if (!inodes_.at(at).is_directory) return SystemError(kWhat, path, ENOTDIR);
    const std::string_view name = TakeName(rest);
    const InodeId next = Lookup(at, name);
    at = next != kNone ? next : Create(at, name, /*is_directory=*/true);
  }
  if (!inodes_.at(at).is_directory) return SystemError(kWhat, path, EEXIST);
  return {};
}

Result<std::vector<FileEntry>> SimulatedDisk::List(std::string_view path) const {
  const auto directory = FindDirectory(path);
  if (!directory) return SystemError("list", path, directory.error());
  std::vector<FileEntry> entries;
  for (const auto& [name, inode] : inodes_.at(*directory).entries) {
    entries.push_back({.name = name, .is_directory = inodes_.at(inode).is_directory});
  }
  return entries;
}

// The checks and their order are Linux's.
Result<void> SimulatedDisk::Rename(std::string_view from, std::string_view to) {
  const auto fail = [&](int code) { return SystemError(StrCat("rename '", from, "' to"), to, code); };
  const auto is_below = [](std::string_view path, std::string_view directory) {
    return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
  };
  const auto from_parent = FindDirectory(ParentOf(from));
  if (!from_parent) return fail(from_parent.error());
  const auto to_parent = FindDirectory(ParentOf(to));
  if (!to_parent) return fail(to_parent.error());
  const InodeId moved = Lookup(*from_parent, NameOf(from));
  if (moved == kNone) return fail(ENOENT);
  if (is_below(to, from)) return files_internal::InsideItself(from, to);
  if (is_below(from, to)) return fail(ENOTEMPTY);
  const InodeId replaced = Lookup(*to_parent, NameOf(to));
  if (replaced == moved) return {};
  const bool moves_directory = inodes_.at(moved).is_directory;
  const bool replaces_directory = replaced != kNone && inodes_.at(replaced).is_directory;
  if (replaced != kNone) {
    if (moves_directory && !replaces_directory) return fail(ENOTDIR);
    if (!moves_directory && replaces_directory) return fail(EISDIR);
    if (replaces_directory && !IsEmptyDirectory(replaced)) return fail(ENOTEMPTY);
  }
  Do({.entries = {{Slot{*from_parent, std::string(NameOf(from))}, kNone},
                  {Slot{*to_parent, std::string(NameOf(to))}, moved}},
      .removed_directory = replaces_directory ? replaced : kNone,
      .way_to_find = *to_parent != *from_parent ? WayTo(ParentOf(to)) : std::set<InodeId>()});
  return {};
}

Result<void> SimulatedDisk::Remove(std::string_view path) {
  constexpr std::string_view kWhat = "remove";
  const auto parent = FindDirectory(ParentOf(path));
  if (!parent) return SystemError(kWhat, path, parent.error());
  const InodeId removed = Lookup(*parent, NameOf(path));
  if (removed == kNone) return SystemError(kWhat, path, ENOENT);
  const bool is_directory = inodes_.at(removed).is_directory;
  if (is_directory && !IsEmptyDirectory(removed)) return SystemError(kWhat, path, ENOTEMPTY);
  Do({.entries = {{Slot{*parent, std::string(NameOf(path))}, kNone}},
      .removed_directory = is_directory ? removed : kNone});
  return {};
}

Result<void> SimulatedDisk::SyncDirectory(std::string_view path) {
  const auto directory = FindDirectory(path);
  if (!directory) return SystemError("sync the directory", path, directory.error());
  std::vector<bool> chosen(pending_.size(), false);
  AddWhatTheyBuildOn(chosen, {*directory});
  size_t left = 0;
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (chosen[i]) {
      MakeDurable(pending_[i]);
    } else {
      if (left != i) pending_[left] = std::move(pending_[i]);
      ++left;
    }
  }
  pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(left), pending_.end());
  // What nothing leads to only takes room: when there may be as much of it as of the rest is soon enough.
  if (inodes_.size() >= sweep_at_) Sweep();
  return {};
}

// ---- records ----

void SimulatedDisk::Do(Record record) {
  for (const auto& [slot, inode] : record.entries) {
    Entries& entries = inodes_.at(slot.directory).entries;
    if (inode == kNone) {
      entries.erase(slot.name);
    } else {
      entries.insert_or_assign(slot.name, inode);
    }
  }
  pending_.push_back(std::move(record));
}

void SimulatedDisk::MakeDurable(const Record& record) {
  for (const auto& [slot, inode] : record.entries) {
    Entries& entries = inodes_.at(slot.directory).durable_entries;
    if (inode == kNone) {
      entries.erase(slot.name);
    } else {
      entries.insert_or_assign(slot.name, inode);
    }
  }
}

// Chooses, besides those chosen and those that concern `whole_directories`, every earlier record without which a chosen
// one would lose something that was durable: one on the same entry, one that moved something out of a directory that
// goes, and, for a move into another directory, those that put the directories on the way there where they are (so no
// two moves can close a ring either). Records left out have no entry in common with later chosen ones: between the two
// the order does not matter.
void SimulatedDisk::AddWhatTheyBuildOn(std::vector<bool>& chosen, std::set<InodeId> whole_directories) const {
  std::set<Slot> slots;
  std::set<InodeId> to_be_found;
  for (size_t i = pending_.size(); i-- > 0;) {
    const Record& record = pending_[i];
    // Most records have nothing to do with what is chosen: the sets are small, or empty.
    const bool finds =
        !to_be_found.empty() && std::any_of(record.entries.begin(), record.entries.end(),
                                            [&](const auto& entry) { return to_be_found.contains(entry.second); });
    const bool shares = std::any_of(record.entries.begin(), record.entries.end(), [&](const auto& entry) {
      return whole_directories.contains(entry.first.directory) || (!slots.empty() && slots.contains(entry.first));
    });
    chosen[i] = chosen[i] || finds || shares;
    if (!chosen[i]) continue;
    for (const auto& [slot, inode] : record.entries) slots.insert(slot);
    if (record.removed_directory != kNone) whole_directories.insert(record.removed_directory);
    to_be_found.insert(record.way_to_find.begin(), record.way_to_find.end());
  }
}

void SimulatedDisk::Sweep() {
  std::set<InodeId> alive = {kRoot};
  std::vector<InodeId> to_visit = {kRoot};
  const auto reach = [&](InodeId inode) {
    if (inode != kNone && alive.insert(inode).second) to_visit.push_back(inode);
  };
  for (const auto& [id, inode] : inodes_) {
    if (inode.opens > 0) reach(id);
  }
  for (const Record& record : pending_) {
    for (const auto& [slot, inode] : record.entries) {
      reach(slot.directory);
      reach(inode);
    }
  }
  while (!to_visit.empty()) {
    const Inode& inode = inodes_.at(to_visit.back());
    to_visit.pop_back();
    for (const auto& [name, child] : inode.entries) reach(child);
    for (const auto& [name, child] : inode.durable_entries) reach(child);
  }
  std::erase_if(inodes_, [&](const auto& inode) { return !alive.contains(inode.first); });
  sweep_at_ = std::max(kSweepAtLeast, 2 * inodes_.size());
}

// ---- open files ----

std::map<std::string, SimulatedDisk::InodeId> SimulatedDisk::NamedFiles() const {
  std::map<std::string, InodeId> files;
  std::vector<std::pair<std::string, InodeId>> directories = {{"", kRoot}};
  while (!directories.empty()) {
    const auto [prefix, directory] = std::move(directories.back());
    directories.pop_back();
    for (const auto& [name, inode] : inodes_.at(directory).entries) {
      if (inodes_.at(inode).is_directory) {
        directories.emplace_back(StrCat(prefix, name, "/"), inode);
      } else {
        files.emplace(StrCat(prefix, name), inode);
      }
    }
  }
  return files;
}

std::map<std::string, std::string> SimulatedDisk::Snapshot() const {
  std::map<std::string, std::string> files;
  for (const auto& [path, inode] : NamedFiles()) files.emplace(path, Content(inode));
  return files;
}

uint64_t SimulatedDisk::used_bytes() const {
  std::set<InodeId> counted;
  for (const auto& [path, inode] : NamedFiles()) counted.insert(inode);
  for (const auto& [id, inode] : inodes_) {
    if (inode.opens > 0) counted.insert(id);
  }
  uint64_t used = 0;
  for (const InodeId inode : counted) used += Content(inode).size();
  return used;
}

bool SimulatedDisk::Append(InodeId file, std::string_view bytes) {
  size_t room = bytes.size();
  if (quota_ != kNoQuota) room = std::min<uint64_t>(room, quota_ - std::min(quota_, used_bytes()));
  Inode& inode = inodes_.at(file);
  inode.content.append(bytes.substr(0, room));
  if (room > 0) inode.unsynced.push_back({.is_append = true, .bytes = std::string(bytes.substr(0, room))});
  return room == bytes.size();
}

void SimulatedDisk::Truncate(InodeId file, uint64_t size) {
  Inode& inode = inodes_.at(file);
  INVARIANT(size <= inode.content.size(), "a truncation does not add bytes");
  inode.content.resize(size);
  inode.unsynced.push_back({.is_append = false, .bytes = {}, .size = size});
}

void SimulatedDisk::Sync(InodeId file) {
  Inode& inode = inodes_.at(file);
  for (Change& change : inode.unsynced) {
    if (!change.is_append) {
      inode.durable.resize(change.size);
    } else if (change.dropped) {
      inode.durable.append(change.bytes.size(), '\0');
    } else {
      inode.durable.append(change.bytes);
    }
  }
  inode.unsynced.clear();
}

void SimulatedDisk::FailSync(InodeId file) {
  for (Change& change : inodes_.at(file).unsynced) change.dropped = true;
}

// ---- accidents ----

namespace {

// How many of `count` steps, in order, were still done. None and all are likely enough to be seen often.
uint64_t PickHowMany(Random& random, uint64_t count) {
  switch (random.Below(4)) {
    case 0:
      return 0;
    case 1:
      return count;
    default:
      return random.Below(count + 1);
  }
}

// Spoils some of bytes[safe, end).
void Spoil(std::string& bytes, uint64_t safe, Random& random, const PowerCutOptions& options) {
  if (bytes.size() <= safe) return;
  const uint64_t block = options.block_bytes;
  if (options.lost_blocks) {
    for (uint64_t start = safe, end = 0; start < bytes.size(); start = end) {
      end = std::min<uint64_t>(bytes.size(), (start / block + 1) * block);
      if (random.Chance(0.25)) std::fill_n(bytes.data() + start, end - start, '\0');
    }
  }
  if (options.torn_tail && random.Chance(0.5)) {
    const uint64_t last_block = std::max<uint64_t>(safe, (bytes.size() - 1) / block * block);
    const uint64_t from = last_block + random.Below(bytes.size() - last_block);
    const std::span<char> tail = std::span(bytes).subspan(from);
    std::fill(tail.begin(), tail.end(), '\0');
    if (random.Chance(0.5)) random.Fill(std::as_writable_bytes(tail));
  }
}

}  // namespace

// The first few changes were still done, the last of them maybe in part.
void SimulatedDisk::KeepSomeBytes(Inode& file, Random& random, const PowerCutOptions& options) {
  uint64_t steps = 0;  // a byte appended or a truncation done
  for (const Change& change : file.unsynced) steps += change.is_append ? change.bytes.size() : 1;
  uint64_t left = PickHowMany(random, steps);
  uint64_t safe = file.durable.size();
  for (const Change& change : file.unsynced) {
    if (left == 0) break;
    const uint64_t done = change.is_append ? std::min<uint64_t>(left, change.bytes.size()) : 1;
    if (!change.is_append) {
      file.durable.resize(change.size);
      safe = std::min(safe, change.size);
    } else if (change.dropped && random.Chance(0.5)) {
      file.durable.append(done, '\0');
    } else {
      file.durable.append(change.bytes, 0, done);
    }
    left -= done;
  }
  file.unsynced.clear();
  Spoil(file.durable, safe, random, options);
}

void SimulatedDisk::KeepSomeRecords(Random& random, const PowerCutOptions& options) {
  std::vector<bool> kept(pending_.size(), false);
  if (options.any_records) {
    for (size_t i = 0; i < kept.size(); ++i) kept[i] = random.Chance(0.5);
    AddWhatTheyBuildOn(kept, {});
  } else {
    std::fill_n(kept.begin(), PickHowMany(random, kept.size()), true);
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) MakeDurable(pending_[i]);
  }
  pending_.clear();
}

void SimulatedDisk::PowerCut(Random& random, const PowerCutOptions& options) {
  INVARIANT(options.block_bytes > 0, "a block has a size");
  if (!pending_.empty()) KeepSomeRecords(random, options);
  for (auto& [id, inode] : inodes_) {
    inode.entries = inode.durable_entries;
    inode.opens = 0;
    if (!inode.unsynced.empty()) KeepSomeBytes(inode, random, options);
    inode.content = inode.durable;
  }
  Sweep();
}

void SimulatedDisk::CloseAll() {
  for (auto& [id, inode] : inodes_) inode.opens = 0;
  Sweep();
}

}  // namespace baton::rt
