import Proofs

extension PasswordError: ProblemConvertible {
    package var problem: Problem {
        Problem(status: .unprocessableContent, code: code, detail: message)
    }
}
