// Cron schedules, as a CronJob has them: five fields, or a word such as "@daily" and "@every 1h30m".
//
//   CheckCronSchedule("*/5 * * * *");     // "": fine
//   CheckCronSchedule("61 * * * *");      // "end of range (61) above maximum (59): 61"
//
// What is accepted, and the messages, are those of the cron library that Kubernetes uses (robfig/cron).
#pragma once

#include <string>
#include <string_view>

namespace baton::api {

// What is wrong with it; "" when nothing is.
std::string CheckCronSchedule(std::string_view schedule);

}  // namespace baton::api
