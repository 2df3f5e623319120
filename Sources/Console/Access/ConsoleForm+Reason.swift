import HTTPSupport

extension ConsoleForm {
    /// The reason of a change, which the audit log keeps.
    func reason(_ name: String = "reason") throws(Problem) -> String {
        let text = try text(name, upTo: Reason.maximumSize)
        guard Reason.isReason(text) else { throw Self.invalid(name, "a text of \(Reason.rule)") }
        return text
    }
}

extension Field {
    /// The field of a reason.
    static func reason(_ name: String = "reason") -> HTML {
        text(
            name, Phrase("Reason", "이유"), maximumLength: Reason.maximumLength, isRequired: true,
            note: Phrase("The audit log keeps it with your name.", "감사 기록에 이름과 함께 남습니다."))
    }
}
