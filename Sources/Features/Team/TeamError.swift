import Proofs

package enum TeamError: RuledError, Equatable {
    case nameInvalid(String)
    case nameTaken(String)
    case memberNotFound(String)
    /// The name, the password or the one-time code is wrong. The error does not say which, for security.
    case credentialsWrong
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

    package var rule: ErrorRule {
        switch self {
        case .nameInvalid(let name):
            ErrorRule(
                "nameInvalid", .unprocessable,
                "\"\(name.prefix(TeamMember.maximumNameLength))\" cannot be a name. Use 1 to "
                    + "\(TeamMember.maximumNameLength) bytes, without control characters.",
                korean: "쓸 수 없는 이름입니다. 제어 문자 없이 1~\(TeamMember.maximumNameLength)바이트로 입력하세요.")
        case .nameTaken(let name):
            ErrorRule(
                "nameTaken", .conflict,
                "The name \"\(name)\" is or was in use. Choose another: the audit log tells people apart by their names.",
                korean: "이미 쓰고 있거나 쓴 적이 있는 이름입니다. 감사 기록이 이름으로 사람을 구분하므로 다른 이름을 고르세요.")
        case .memberNotFound(let name):
            ErrorRule(
                "memberNotFound", .notFound,
                "The team has no member \"\(name)\". `till console list-users` lists them.",
                korean: "팀에 이 이름의 구성원이 없습니다.")
        case .credentialsWrong:
            ErrorRule(
                "credentialsWrong", .unauthorized, "The name, the password or the code is wrong.",
                korean: "이름이나 비밀번호, 코드가 올바르지 않습니다.")
        case .codeWrong:
            ErrorRule(
                "codeWrong", .forbidden,
                "The code is wrong or was used before. Wait for the next one. Nothing was changed.",
                korean: "코드가 올바르지 않거나 이미 사용되었습니다. 다음 코드를 기다리세요. 아무것도 바꾸지 않았습니다.")
        case .codesAreOn:
            ErrorRule(
                "codesAreOn", .conflict, "One-time codes are on already. Turn them off first, with a present code.",
                korean: "일회용 코드를 이미 사용하고 있습니다. 먼저 현재 코드로 끄세요.")
        case .invitationInvalid:
            ErrorRule(
                "invitationInvalid", .notFound,
                "The link is unknown, was used, or has expired. Ask an administrator for a new one: "
                    + "`till console invite NAME`.",
                korean: "알 수 없거나 이미 사용했거나 만료된 링크입니다. 관리자에게 새 링크를 요청하세요.")
        case .lastAdministrator(let name):
            ErrorRule(
                "lastAdministrator", .conflict,
                "\"\(name)\" is the last administrator who can log in. Make another member an administrator first, and let "
                    + "that person set a password.",
                korean: "로그인할 수 있는 마지막 관리자입니다. 먼저 다른 구성원을 관리자로 지정하고, 그 사람이 비밀번호를 설정하게 하세요.")
        case .ownRemoval:
            ErrorRule(
                "ownRemoval", .conflict, "You cannot remove yourself. Ask another administrator.",
                korean: "자기 자신은 삭제할 수 없습니다. 다른 관리자에게 요청하세요.")
        }
    }
}
