/// A moment in milliseconds since 1970-01-01T00:00:00Z, the unit of dates in Apple's signed JSON.
public struct Timestamp: Hashable, Comparable, Sendable, Codable {
    public let millisecondsSince1970: Int64

    /// The last millisecond of the year 9999, the last that RFC 3339 can state.
    static let endOfYear9999: Int64 = 253_402_300_799_999

    public init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// A moment on a whole second, as in app receipts and X.509 certificates.
    public init(secondsSince1970: Int64) {
        millisecondsSince1970 = secondsSince1970 * 1000
    }

    public init(from decoder: any Decoder) throws {
        millisecondsSince1970 = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(millisecondsSince1970)
    }

    /// The whole seconds since 1970, rounded down.
    public var secondsSince1970: Int64 {
        Self.quotient(millisecondsSince1970, 1000)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }

    /// Returns the moment after a number of days of 86,400 seconds.
    public func adding(days: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: millisecondsSince1970 + days * 86_400_000)
    }

    /// Returns the moment after a number of seconds.
    public func adding(seconds: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: millisecondsSince1970 + seconds * 1000)
    }

    /// Returns the moment after a number of milliseconds.
    package func adding(milliseconds: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: millisecondsSince1970 + milliseconds)
    }

    /// The quotient, rounded down for every number.
    static func quotient(_ value: Int64, _ divisor: Int64) -> Int64 {
        value / divisor - (value % divisor < 0 ? 1 : 0)
    }

    /// The remainder of `quotient`. It is never negative.
    static func remainder(_ value: Int64, _ divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    /// The day of the month in UTC, from 1.
    public var dayOfMonth: Int {
        Int(Self.civilDate(daysSince1970: Self.quotient(secondsSince1970, 86_400)).day)
    }

    /// Returns the moment one period later, at the same time of day in UTC.
    ///
    /// - Parameter dayOfMonth: The target day for months and years. A subscription of the 31st renews on the last day
    ///   of a shorter month, and then on the 31st again.
    public func adding(_ period: SubscriptionPeriod, dayOfMonth: Int) -> Timestamp {
        switch period.unit {
        case .day: return adding(days: Int64(period.value))
        case .week: return adding(days: 7 * Int64(period.value))
        case .month, .year:
            let days = Self.quotient(secondsSince1970, 86_400)
            let date = Self.civilDate(daysSince1970: days)
            let months = date.month - 1 + Int64(period.value) * (period.unit == .year ? 12 : 1)
            let year = date.year + Self.quotient(months, 12)
            let month = Self.remainder(months, 12) + 1
            let day = min(Int64(dayOfMonth), Self.days(inMonth: month, year: year))
            return adding(days: Self.daysSince1970(year: year, month: month, day: day) - days)
        }
    }

    /// Reads an RFC 3339 date-time, as in app receipts: `2016-11-09T07:29:53Z`. It accepts offsets (`+01:00`, or `+0100`,
    /// which Xcode wrote until 2021) and fractions of a second, rounded down to milliseconds (`53.686Z`, which the App
    /// Store wrote in September 2020).
    ///
    /// - Returns: Nil if a field is missing or out of range, or if text follows.
    public init?(rfc3339 text: some StringProtocol) {
        self.init(rfc3339: ArraySlice(text.utf8))
    }

    /// Reads the same form from the bytes of the text.
    public init?(rfc3339 bytes: ArraySlice<UInt8>) {
        var scanner = Scanner(bytes: bytes)
        guard
            let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
            let day = scanner.digits(2), scanner.skip("T"), let hour = scanner.digits(2), scanner.skip(":"),
            let minute = scanner.digits(2), scanner.skip(":"), let second = scanner.digits(2),
            let millisecond = scanner.fraction(), let offset = scanner.offset(), scanner.isAtEnd,
            (1...12).contains(month), (1...Self.days(inMonth: month, year: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Self.daysSince1970(year: year, month: month, day: day)
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
        self.init(millisecondsSince1970: seconds * 1000 + millisecond)
    }

    /// Reads any RFC 3339 date-time. It accepts lowercase letters and drops fractions of a second.
    public init?(internetDateTime text: String) {
        guard text.utf8.count <= 64 else { return nil }
        let bytes = text.utf8.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 & 0xDF : $0 }
        guard let exact = Timestamp(rfc3339: bytes[...]) else { return nil }
        let fraction = exact.millisecondsSince1970 % 1000
        self.init(millisecondsSince1970: exact.millisecondsSince1970 - (fraction < 0 ? fraction + 1000 : fraction))
    }

    /// The date-time in UTC with whole seconds, as in Apple's receipts: `2016-11-09T07:29:53Z`.
    public var rfc3339: String { withRFC3339 { String(decoding: $0, as: UTF8.self) } }

    /// Appends `rfc3339` to bytes. An answer with many dates makes no text of each.
    package func appendRFC3339(to bytes: inout [UInt8]) {
        withRFC3339 { bytes.append(contentsOf: $0) }
    }

    private func withRFC3339<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let seconds = secondsSince1970
        let date = Self.civilDate(daysSince1970: Self.quotient(seconds, 86_400))
        let second = Self.remainder(seconds, 86_400)
        let year = String(date.year)
        let years = max(4, year.utf8.count)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: years + 16) { buffer in
            /// Writes a separator and two digits.
            func write(_ separator: Unicode.Scalar, _ number: Int64, at place: Int) {
                buffer[years + place] = UInt8(ascii: separator)
                buffer[years + place + 1] = UInt8(ascii: "0") + UInt8(number / 10)
                buffer[years + place + 2] = UInt8(ascii: "0") + UInt8(number % 10)
            }
            for place in 0..<years - year.utf8.count { buffer[place] = UInt8(ascii: "0") }
            for (place, digit) in year.utf8.enumerated() { buffer[years - year.utf8.count + place] = digit }
            write("-", date.month, at: 0)
            write("-", date.day, at: 3)
            write("T", second / 3600, at: 6)
            write(":", second / 60 % 60, at: 9)
            write(":", second % 60, at: 12)
            buffer[years + 15] = UInt8(ascii: "Z")
            return body(UnsafeBufferPointer(buffer))
        }
    }

    static func days(inMonth month: Int64, year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// The days from 1970-01-01 to a date of the proleptic Gregorian calendar (Howard Hinnant, "chrono-Compatible
    /// Low-Level Date Algorithms", `days_from_civil`). The years start in March, so the leap day comes last.
    static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = quotient(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The inverse of `daysSince1970` (Hinnant, `civil_from_days`).
    static func civilDate(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = quotient(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

/// A reader of the fixed-width fields of a date-time.
private struct Scanner {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    mutating func digits(_ count: Int) -> Int64? {
        guard bytes.endIndex - position >= count else { return nil }
        var number: Int64 = 0
        for index in position..<position + count {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int64(digit)
        }
        position += count
        return number
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard !isAtEnd, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Reads the fraction of a second, if there is one, in milliseconds.
    mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        let start = position
        var milliseconds: Int64 = 0
        var unit: Int64 = 100
        while let digit = digits(1) {
            milliseconds += digit * unit
            unit /= 10
        }
        return position > start ? milliseconds : nil
    }

    /// Reads the offset from UTC in seconds. It is positive east of Greenwich.
    mutating func offset() -> Int64? {
        if skip("Z") { return 0 }
        let sign: Int64
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = digits(2) else { return nil }
        _ = skip(":")
        guard let minutes = digits(2), hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}

/// A day of the proleptic Gregorian calendar in UTC.
public struct CalendarDay: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let daysSince1970: Int64

    public init(daysSince1970: Int64) {
        self.daysSince1970 = daysSince1970
    }

    /// The day of a moment.
    public init(_ moment: Timestamp) {
        daysSince1970 = Timestamp.quotient(moment.millisecondsSince1970, 86_400_000)
    }

    /// Reads a date of RFC 3339: `2026-10-31`.
    ///
    /// - Returns: Nil if the text has another form.
    public init?(_ text: String) {
        guard text.utf8.count == 10, let midnight = Timestamp(rfc3339: text + "T00:00:00Z") else { return nil }
        self.init(midnight)
    }

    public var description: String { String(start.rfc3339.prefix(10)) }

    /// The first moment of the day.
    public var start: Timestamp { Timestamp(millisecondsSince1970: daysSince1970 * 86_400_000) }

    public static func < (left: CalendarDay, right: CalendarDay) -> Bool { left.daysSince1970 < right.daysSince1970 }

    public func adding(days: Int64) -> CalendarDay { CalendarDay(daysSince1970: daysSince1970 + days) }

    /// The Monday of the same week, or the day itself.
    public var firstOfWeek: CalendarDay { adding(days: -Timestamp.remainder(daysSince1970 + 3, 7)) }

    /// The first day of the same month.
    public var firstOfMonth: CalendarDay {
        adding(days: 1 - Timestamp.civilDate(daysSince1970: daysSince1970).day)
    }

    public var firstOfNextMonth: CalendarDay {
        let date = Timestamp.civilDate(daysSince1970: daysSince1970)
        let (year, month) = date.month == 12 ? (date.year + 1, 1) : (date.year, date.month + 1)
        return CalendarDay(daysSince1970: Timestamp.daysSince1970(year: year, month: month, day: 1))
    }
}

extension Timestamp {
    /// The divisor of the largest jitter: a delay is randomly longer by at most this part.
    private static let jitterDivisor: Int64 = 10

    /// The time of the attempt after one that failed now, with jitter, so that attempts that failed together are not retried
    /// together.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts so far.
    ///   - delays: The delays after each attempt, in seconds.
    /// - Returns: Nil after the last attempt.
    package func retry(after attempts: Int, delays: [Int64], randomness: Randomness) -> Timestamp? {
        guard delays.indices.contains(attempts - 1) else { return nil }
        let delay = delays[attempts - 1] * 1000
        let jitter = randomness.bytes(2).reduce(0) { $0 << 8 | Int64($1) }
        return Timestamp(
            millisecondsSince1970: millisecondsSince1970 + delay + delay / Self.jitterDivisor * jitter / 0xFFFF)
    }
}
