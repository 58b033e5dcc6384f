"""What a device says of itself: processor, memory, temperatures and clocks, by shell commands alone."""

TEXT = r"""
echo "system $(uname -srm)"
tr -d '\000' </proc/device-tree/model 2>/dev/null | sed 's/^/board /'; echo
getprop ro.product.model 2>/dev/null | sed 's/^/board /'
sed -n 's/^model name[^:]*: */processor /p;s/^Hardware[^:]*: */processor /p' /proc/cpuinfo | sed -n 1p
sed -n 's/^MemTotal: */memory_kb /p;s/^MemAvailable: */memory_available_kb /p' /proc/meminfo | sed 's/ kB$//'
for zone in /sys/class/thermal/thermal_zone*; do
  [ ! -r "$zone/temp" ] || echo "temperature $(cat "$zone/type") $(cat "$zone/temp" 2>/dev/null)"
done
for cpu in /sys/devices/system/cpu/cpu[0-9]*/cpufreq; do
  [ ! -r "$cpu/scaling_cur_freq" ] || echo "clock $(basename "$(dirname "$cpu")") $(cat "$cpu/scaling_cur_freq")"
  [ ! -r "$cpu/scaling_governor" ] || echo "governor $(cat "$cpu/scaling_governor")"
done
nvpmodel -q 2>/dev/null | sed -n 's/^NV Power Mode: */power_mode /p'
true"""


def parse(text):
    """{"system": ..., "temperatures_c": {zone: degrees}, "clocks_khz": {processor: kHz}, ...}; what is unknown is absent."""
    found = {"temperatures_c": {}, "clocks_khz": {}}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == "temperature" and value.rpartition(" ")[2].lstrip("-").isdigit():
            zone, _, number = value.rpartition(" ")
            found["temperatures_c"][zone] = int(number) / 1000
        elif key == "clock" and value.rpartition(" ")[2].isdigit():
            processor, _, number = value.rpartition(" ")
            found["clocks_khz"][processor] = int(number)
        elif key in ("memory_kb", "memory_available_kb") and value.isdigit():
            found[key] = int(value)
        elif key in ("system", "board", "processor", "governor", "power_mode") and value:
            found[key] = value
    return found


def read(connection):
    return parse(connection.do(connection.place.output, TEXT)[1])
