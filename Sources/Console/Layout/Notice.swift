/// A confirmation that a page shows after a form succeeded. Its name is the parameter `done` of the page's address.
struct Notice: Sendable {
    private static let all = [
        saved, created, removed, withdrawn, restored, given, revoked, reinstated, credited, assigned, queued, erased,
        secretReplaced, started, bought, redeemed, approved, declined, refunded, advanced, cleared, performed,
    ]

    static let saved = Notice("saved", "Saved.")
    static let created = Notice("created", "Created.")
    static let removed = Notice("removed", "Removed.")
    static let withdrawn = Notice("withdrawn", "Withdrawn from sale.")
    static let restored = Notice("restored", "Restored.")
    static let given = Notice("given", "The item was given.")
    static let revoked = Notice("revoked", "Revoked.")
    static let reinstated = Notice("reinstated", "Reinstated.")
    static let credited = Notice("credited", "The balance was increased.")
    static let assigned = Notice("assigned", "The purchase was assigned.")
    static let queued = Notice("queued", "The messages will be sent again.")
    static let erased = Notice("erased", "The customer was erased.")
    static let secretReplaced = Notice("secretReplaced", "The secret was replaced.")
    static let started = Notice("started", "Started.")
    static let bought = Notice("bought", "Bought.")
    static let redeemed = Notice("redeemed", "Redeemed at the service.")
    static let approved = Notice("approved", "Approved.")
    static let declined = Notice("declined", "Declined.")
    static let refunded = Notice("refunded", "Refunded.")
    static let advanced = Notice("advanced", "The clock was advanced.")
    static let cleared = Notice("cleared", "Cleared.")
    static let performed = Notice("performed", "Done.")

    let rawValue: String
    let sentence: Phrase

    private init(_ name: String, _ sentence: Phrase) { (rawValue, self.sentence) = (name, sentence) }

    /// - Returns: Nil for an unknown name.
    init?(rawValue name: String) {
        guard let notice = Self.all.first(where: { $0.rawValue.hasSameBytes(as: name) }) else { return nil }
        self = notice
    }
}
