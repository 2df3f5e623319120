import HTTPSupport

extension ConsoleForm {
    /// The reason of a change, which the audit log keeps.
    func reason() throws(Problem) -> String {
        let text = try text("reason", upTo: Reason.maximumSize)
        guard Reason.isReason(text) else { throw Self.invalid("reason", "a text of \(Reason.rule)") }
        return text
    }
}
