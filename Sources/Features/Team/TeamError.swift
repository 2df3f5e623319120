import Proofs

/// The error of a use case of the team.
package enum TeamError: CodedError, Equatable {
    case nameInvalid(String)
    case nameTaken(String)
    case memberNotFound(String)
    /// The name, the password or the one-time code is wrong. The error does not say which, for security.
    case credentialsWrong
    /// The password of a logged-in member is wrong.
    case passwordWrong
    /// The one-time code is wrong or was used before.
    case codeWrong
    /// A secret of one-time codes would replace another.
    case codesAreOn
    /// The link is unknown, used or has expired.
    case invitationInvalid
    /// The change would leave the team without an administrator who can log in.
    case lastAdministrator(String)
    /// A member would remove themselves.
    case ownRemoval
    /// There was too little memory to hash a password.
    case passwordNotHashed

    package var code: String {
        switch self {
        case .nameInvalid: "nameInvalid"
        case .nameTaken: "nameTaken"
        case .memberNotFound: "memberNotFound"
        case .credentialsWrong: "credentialsWrong"
        case .passwordWrong: "passwordWrong"
        case .codeWrong: "codeWrong"
        case .codesAreOn: "codesAreOn"
        case .invitationInvalid: "invitationInvalid"
        case .lastAdministrator: "lastAdministrator"
        case .ownRemoval: "ownRemoval"
        case .passwordNotHashed: "passwordNotHashed"
        }
    }

    package var message: String {
        switch self {
        case .nameInvalid(let name):
            "\"\(name.prefix(TeamMember.maximumNameLength))\" cannot be a name. Use 1 to \(TeamMember.maximumNameLength) bytes, "
                + "without control characters."
        case .nameTaken(let name):
            "The name \"\(name)\" is or was in use. Choose another: the audit log tells people apart by their names."
        case .memberNotFound(let name): "The team has no member \"\(name)\". `till console list-users` lists them."
        case .credentialsWrong: "The name, the password or the code is wrong."
        case .passwordWrong: "The password is wrong. Nothing was changed."
        case .codeWrong: "The code is wrong or was used before. Wait for the next one. Nothing was changed."
        case .codesAreOn: "One-time codes are on already. Turn them off first, with a present code."
        case .invitationInvalid:
            "The link is unknown, was used, or has expired. Ask an administrator for a new one: `till console invite NAME`."
        case .lastAdministrator(let name):
            "\"\(name)\" is the last administrator who can log in. Make another member an administrator first, and let that "
                + "person set a password."
        case .ownRemoval: "You cannot remove yourself. Ask another administrator."
        case .passwordNotHashed: "The service has too little memory to hash the password. Try again later."
        }
    }
}
