import Proofs

/// The error of a log-in. Nothing was changed.
package enum LogInError: RuledError, Equatable {
    /// The anonymous customer has too many records to move them in one commit.
    case customerTooLarge

    package var rule: ErrorRule {
        switch self {
        case .customerTooLarge:
            ErrorRule(
                "customerTooLarge", .conflict,
                "The anonymous customer has more than \(LogIn.maximumRecords) records, too many for a log-in. Nothing was "
                    + "changed. Let the team join the two ids by an import.",
                korean: "익명 고객의 기록이 \(LogIn.maximumRecords)건을 넘어 로그인할 수 없습니다. 아무것도 바꾸지 않았습니다. 두 아이디를 가져오기로 합치세요.")
        }
    }
}
