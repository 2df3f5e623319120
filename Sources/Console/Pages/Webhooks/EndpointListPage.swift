import Features

/// The list of all endpoints.
struct EndpointListPage {
    struct Row {
        let endpoint: WebhookEndpoint
        let last: WebhookDelivery?
        let hasFailed: Bool
    }

    let context: ConsoleContext
    let rows: [Row]
    /// The names of API keys by their identifiers.
    let keys: [String: String]

    var page: Page {
        Page(Phrase("Webhooks", "웹훅"), section: .webhooks) {
            p {
                Phrase(
                    "Each endpoint of your back end receives a signed message about every change of what a user owns.",
                    "사용자의 소유물이 바뀔 때마다 백엔드의 각 엔드포인트가 서명된 메시지를 받습니다.")
            }
            table
            if context.may(.administer) { addition }
        }
    }

    private var table: HTML {
        Listing.table(
            Phrase("Endpoints, oldest first", "엔드포인트, 오래된 순"), of: rows,
            empty: Phrase("There is no endpoint.", "엔드포인트가 없습니다.")
        ) {
            column(Phrase("Address", "주소")) { row in
                a(.href(path(row.endpoint))) { data(row.endpoint.shownURL(to: context)) }
            }
            column(Phrase("Format", "형식")) { WebhookWords.title(of: $0.endpoint.format) }
            column(Phrase("Last message", "마지막 메시지")) { row in
                if let last = row.last {
                    WebhookWords.badge(last.state)
                    plain(" ")
                    Shown.moment(last.entry.happenedAt)
                } else {
                    Shown.nothing
                }
            }
            column(Phrase("Given up", "포기한 메시지")) { row in
                if row.hasFailed {
                    a(.href(path(row.endpoint, WebhookDelivery.State.failed))) { Phrase("Show", "보기") }
                } else {
                    Phrase("None", "없음")
                }
            }
            column(Phrase("Added", "추가")) { Shown.moment($0.endpoint.createdAt) }
            column(Phrase("By", "추가한 사람")) { ActorWords.html(caller: $0.endpoint.createdBy, keys) }
        }
    }

    private func path(_ endpoint: WebhookEndpoint, _ state: WebhookDelivery.State? = nil) -> ConsolePath {
        ConsolePath("webhooks", endpoint.identifier, query: ["state": state?.rawValue])
    }

    private var addition: HTML {
        details(.class("action")) {
            summary { Phrase("Add an endpoint", "엔드포인트 추가") }
            context.form(to: ConsolePath("webhooks")) {
                Field.text(
                    "url", Phrase("Address", "주소"), inputMode: "url", maximumLength: WebhookURL.maximumLength,
                    isRequired: true,
                    note: Phrase(
                        "Begins with https://. The next page shows the secret.", "https://로 시작합니다. 다음 화면에 비밀 값이 표시됩니다.")
                )
                Field.choice(
                    "format", Phrase("Format", "형식"),
                    WebhookFormat.allCases.map { ($0.rawValue, WebhookWords.title(of: $0)) },
                    chosen: WebhookFormat.till.rawValue)
                EndpointActions.authorizationField
                button(.class("primary")) { Phrase("Add", "추가") }
            }
        }
    }
}
