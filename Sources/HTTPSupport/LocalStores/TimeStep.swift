import Proofs

/// A manual step of a local store's clock: `90s`, `5min`, `2h`, `3d`, `1w`, `1mo`, `1y`.
package enum TimeStep: Hashable, Sendable {
    case seconds(Int64)
    case period(SubscriptionPeriod)

    /// The form and the limits of the text.
    package static let form =
        "a number from \(numbers.lowerBound) to \(numbers.upperBound) and one of s, min, h, d, w, mo and y, such as 1mo; "
        + "at most \(maximumDays) days"
    private static let numbers: ClosedRange<Int64> = 1...99_999

    /// - Returns: Nil for any other text.
    package init?(_ text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits), Self.numbers.contains(number) else { return nil }
        let unit = String(text.dropFirst(digits.count))
        let units: [String: Int64] = ["s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400]
        if let seconds = units[unit] {
            self = .seconds(number * seconds)
        } else if let letter = ["mo": "M", "y": "Y"][unit], let period = SubscriptionPeriod("P\(number)\(letter)") {
            self = .period(period)
        } else {
            return nil
        }
    }

    /// The days of the longest step, ten years. All events that are due in between happen in one call.
    private static let maximumDays: Int64 = 10 * 366

    /// The length of the step from a moment, in seconds.
    ///
    /// - Throws: `Refusal` for a negative step or a step of more than ten years.
    package func length(from start: Timestamp) throws(Refusal) -> Int64 {
        let seconds =
            switch self {
            case .seconds(let seconds): seconds
            case .period(let period):
                (start.adding(period, dayOfMonth: start.dayOfMonth).millisecondsSince1970
                    - start.millisecondsSince1970) / 1000
            }
        guard seconds >= 0 else { throw Refusal(message: "The clock only moves forward.") }
        guard seconds <= Self.maximumDays * 86_400 else {
            throw Refusal(
                message:
                    "A step of the clock is at most \(Self.maximumDays) days long (ten years). This one has \(seconds / 86_400). "
                    + "Advance the clock in several steps.")
        }
        return seconds
    }

    /// A step that no clock takes, with the reason and the remedy.
    package struct Refusal: Error {
        package let message: String
    }
}
