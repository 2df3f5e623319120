import Ledger

/// The numbers of audit entries of each event since a moment.
package struct ActivityCount: Hashable, Sendable {
    private let numbers: [AuditEntry.Event: Int]
    /// False if there were more entries than were read, so that the numbers are too low.
    package let isComplete: Bool

    init(numbers: [AuditEntry.Event: Int], isComplete: Bool) {
        self.numbers = numbers
        self.isComplete = isComplete
    }

    package subscript(event: AuditEntry.Event) -> Int { numbers[event] ?? 0 }
}
