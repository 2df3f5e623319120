/// The last change of a history that a client has read, as letters and digits (`revision`).
package struct HistoryCursor: Hashable, Sendable {
    package let change: Int64
    package let isDescending: Bool

    package var text: String { "\(isDescending ? "D" : "A")\(change)" }
}

extension HistoryCursor {
    package init?(_ text: String) {
        guard let direction = text.first, "AD".contains(direction), text.utf8.count <= 20,
            let change = Int64(text.dropFirst()), change >= 0
        else { return nil }
        self.init(change: change, isDescending: direction == "D")
    }
}
