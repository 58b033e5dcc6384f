#include "ports/cli/power/energy.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "ports/port.h"

namespace topwork {
namespace cli {
namespace {

constexpr std::chrono::milliseconds kPeriod(20);

}  // namespace

void EnergySum::Add(double seconds, double value) {
  if (n_ == 0) {
    first_seconds_ = seconds;
  } else if (is_counter_) {
    const double more = value - last_value_;
    joules_ += more >= 0.0 ? more : std::max(0.0, more + wrap_);
  } else {
    joules_ += 0.5 * (value + last_value_) * (seconds - last_seconds_);
  }
  last_seconds_ = seconds;
  last_value_ = value;
  ++n_;
}

EnergyMeter::~EnergyMeter() {
  if (thread_.joinable()) Stop();
}

void EnergyMeter::Sample() {
  EnergySum sum(sensor_);
  const int64_t start = port::NowNanos();
  bool works = true;
  std::unique_lock<std::mutex> lock(mutex_);
  for (bool last = false; works;) {
    double value = 0.0;
    std::string reason;
    lock.unlock();
    works = ReadPowerSensor(sensor_, &value, &reason);
    if (works) sum.Add(port::SecondsSince(start), value);
    lock.lock();
    if (last) break;
    last = wake_.wait_for(lock, kPeriod, [this] { return stop_; });
  }
  energy_ = {sum.joules(), sum.seconds(), sum.n_readings(), works && sum.n_readings() > 1};
}

void EnergyMeter::Start() {
  if (thread_.joinable()) Stop();
  stop_ = false;
  thread_ = std::thread([this] { Sample(); });
}

Energy EnergyMeter::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  return energy_;
}

void EnergyMeter::MeasureIdle(double seconds) {
  Start();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const Energy energy = Stop();
  idle_watts_ = energy.is_complete && energy.seconds > 0.0 ? energy.joules / energy.seconds : 0.0;
}

Json NoEnergyJson(const std::string& reason) {
  Json json;
  json["reason"] = reason;
  return json;
}

Json EnergyJson(const EnergyMeter& meter, const Energy& energy, double n, const std::string& unit) {
  const PowerSensor& sensor = meter.sensor();
  if (!energy.is_complete || energy.seconds <= 0.0) {
    return NoEnergyJson("the sensor " + sensor.driver + " " + sensor.name +
                        " could not be read all the time");
  }
  const double net = std::max(0.0, energy.joules - meter.idle_watts() * energy.seconds);
  Json json;
  json["sensor"] = sensor.name;
  json["driver"] = sensor.driver;
  json["scope"] = PowerScopeName(sensor.scope);
  json["idle_watts"] = meter.idle_watts();
  json["watts"] = energy.joules / energy.seconds;
  json["joules"] = energy.joules;
  json["net_joules"] = net;
  json["seconds"] = energy.seconds;
  json["n_readings"] = energy.n_readings;
  if (n > 0.0) json["net_joules_per_" + unit] = net / n;
  return json;
}

std::string EnergyText(const Json& json) {
  if (json.contains("reason")) return "energy unknown: " + json["reason"].get<std::string>();
  std::string key = "net_joules", each;
  for (const char* unit : {"run", "step"}) {
    if (!json.contains(std::string("net_joules_per_") + unit)) continue;
    key = std::string("net_joules_per_") + unit;
    each = std::string(" a ") + unit;
  }
  char text[200];
  std::snprintf(text, sizeof(text), "%.3g J%s above idle (%s %s: the %s; idle %.3g W)",
                json[key].get<double>(), each.c_str(), json["driver"].get<std::string>().c_str(),
                json["sensor"].get<std::string>().c_str(), json["scope"].get<std::string>().c_str(),
                json["idle_watts"].get<double>());
  return text;
}

}  // namespace cli
}  // namespace topwork
