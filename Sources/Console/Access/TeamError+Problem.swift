import Features
import HTTPSupport
import HTTPTypes

extension TeamError: ProblemConvertible {
    package var problem: Problem {
        let status: HTTPResponse.Status =
            switch self {
            case .nameInvalid: .unprocessableContent
            case .nameTaken, .codesAreOn, .lastAdministrator, .ownRemoval: .conflict
            case .memberNotFound, .invitationInvalid: .notFound
            case .credentialsWrong: .unauthorized
            case .passwordWrong, .codeWrong: .forbidden
            case .passwordNotHashed: .serviceUnavailable
            }
        return Problem(status: status, code: code, detail: message, couldSucceedLater: self == .passwordNotHashed)
    }
}
