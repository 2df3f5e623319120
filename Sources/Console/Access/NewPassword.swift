import Features
import HTTPSupport
import Proofs

/// The reading of a new password that was typed twice.
enum NewPassword {
    /// - Throws: `Problem`, `PasswordError`.
    static func read(_ form: ConsoleForm, of member: TeamMember) throws -> Password {
        let (password, repetition) = (try form.password("new-password"), try form.password("repetition"))
        guard password.utf8.elementsEqual(repetition.utf8) else {
            throw Problem(
                status: .unprocessableContent, code: "passwordsDiffer",
                detail: "The two passwords differ. Type the same password twice.")
        }
        return try Password(password, unlike: [member.name.lowercased()])
    }
}
