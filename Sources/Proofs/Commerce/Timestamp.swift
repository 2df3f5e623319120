/// A moment in milliseconds since 1970-01-01T00:00:00Z, the unit of dates in Apple's signed JSON.
public struct Timestamp: Hashable, Comparable, Sendable, Codable {
    public let millisecondsSince1970: Int64

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

    /// The quotient, rounded down for every number.
    static func quotient(_ value: Int64, _ divisor: Int64) -> Int64 {
        value / divisor - (value % divisor < 0 ? 1 : 0)
    }

    /// The remainder of `quotient`. It is never negative.
    static func remainder(_ value: Int64, _ divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
