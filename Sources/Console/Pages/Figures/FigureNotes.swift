import Features

/// The notes about sums that are not complete.
struct FigureNotes {
    let answer: FigureAnswer

    var html: HTML {
        HTML {
            pending
            if answer.periods.contains(where: { !$0.isComplete }) {
                p(.class("note")) {
                    Phrase(
                        "Days are in UTC. The shaded period is not over.",
                        "날짜는 UTC 기준입니다. 음영으로 표시한 기간은 아직 끝나지 않았습니다.")
                }
            }
        }
    }

    /// The notes about sales that are still being added.
    var pending: HTML {
        HTML {
            if !answer.isBackfilled {
                p(.class("note")) {
                    Phrase(
                        "Sales from before figures were turned on are still being added.",
                        "지표를 켜기 전의 판매를 아직 더하는 중입니다.")
                }
            }
            if answer.pendingUsers > 0 {
                let isMore = answer.pendingUsers >= FigureAnswer.maximumPending
                let number = Shown.digits(Int64(answer.pendingUsers)) + (isMore ? "+" : "")
                p(.class("note")) {
                    Phrase(
                        "New purchases of \(number) customer\(number == "1" ? "" : "s") are not included yet.",
                        "고객 \(number)명의 새 구매가 아직 포함되지 않았습니다.")
                }
            }
        }
    }
}
