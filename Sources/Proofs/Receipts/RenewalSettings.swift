/// The settings of a renewal that its statements have told of, since renewal was last on.
///
/// Statements come late and in any order. A later one of the same setting, such as one of a refund, does not move the date at which
/// renewal was first off; a late one of "on" between two of "off" does. So the date follows from all of them.
package struct RenewalSettings: Hashable, Sendable {
    private struct Setting: Hashable, Sendable {
        let order: StatementOrder
        let isOn: Bool
    }

    /// The maximum number of settings. An app may send a new statement at each launch.
    private static let maximumCount = 16

    /// The settings in the order of their statements: the last one of "on", if there is one, and those of "off" after it.
    private let settings: [Setting]

    /// The setting that one statement tells of.
    package init(_ isOn: Bool, by order: StatementOrder) {
        settings = [Setting(order: order, isOn: isOn)]
    }

    private init(_ told: Set<Setting>) {
        // Of two statements with one place, that of "on" is later.
        let sorted = told.sorted { ($0.order, $0.isOn ? 1 : 0) < ($1.order, $1.isOn ? 1 : 0) }
        var kept = Array(sorted[(sorted.lastIndex(where: \.isOn) ?? 0)...])
        // The first ones tell the date. The others count only if a late statement of "on" comes between them.
        while kept.count > Self.maximumCount { kept.remove(at: 2) }
        settings = kept
    }

    /// The settings by the statements of both, in any order of the two.
    package func joined(with other: RenewalSettings) -> RenewalSettings {
        RenewalSettings(Set(settings + other.settings))
    }

    /// The date of the first statement of "off", from a moment on; nil if there is none.
    package func firstOff(from moment: Timestamp) -> Timestamp? {
        settings.first { !$0.isOn && $0.order.date >= moment }?.order.date
    }
}

/// Stored as one text, because few subscriptions have it: the date of each statement with "+" for on or "-" for off, and the number of the
/// question that it answers.
extension RenewalSettings: RawRepresentable, Codable {
    package var rawValue: String {
        settings.map { setting in
            let number = setting.order.number == 0 ? "" : String(setting.order.number)
            return "\(setting.order.date.millisecondsSince1970)\(setting.isOn ? "+" : "-")\(number)"
        }.joined(separator: " ")
    }

    /// - Returns: Nil for another text than that of some settings.
    package init?(rawValue: String) {
        var told: Set<Setting> = []
        for word in rawValue.split(separator: " ", omittingEmptySubsequences: false) {
            guard let sign = word.lastIndex(where: { $0 == "+" || $0 == "-" }), let date = Int64(word[..<sign]) else {
                return nil
            }
            let digits = word[word.index(after: sign)...]
            guard let number = digits.isEmpty ? 0 : Int64(digits) else { return nil }
            told.insert(
                Setting(
                    order: StatementOrder(number: number, date: Timestamp(millisecondsSince1970: date)),
                    isOn: word[sign] == "+"))
        }
        self.init(told)
        guard self.rawValue == rawValue else { return nil }
    }
}
