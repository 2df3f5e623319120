import Features

extension NotificationOutcome {
    /// The effect of a notification.
    var title: Phrase {
        switch self {
        case .granted: Phrase("Given to the customer", "고객에게 지급")
        case .revoked: Phrase("Taken from the customer", "고객에게서 회수")
        case .recorded: Phrase("Recorded, nothing changed", "기록만 함, 변경 없음")
        case .parked: Phrase("Waits for a customer", "고객을 기다림")
        case .duplicate: Phrase("Received before", "이미 받음")
        }
    }

    /// The title with the outcome's code.
    var html: HTML {
        HTML {
            Shown.badge(title, mood)
            plain(" ")
            code { plain(rawValue) }
        }
    }

    private var mood: Shown.Mood {
        switch self {
        case .granted: .good
        case .revoked: .bad
        case .parked: .warning
        case .recorded, .duplicate: .neutral
        }
    }
}
