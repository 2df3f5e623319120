import Webhooks

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
            Listing.table(
                Phrase("Endpoints, oldest first", "엔드포인트, 오래된 순"),
                columns: [
                    Phrase("Address", "주소"), Phrase("Format", "형식"), Phrase("Last message", "마지막 메시지"),
                    Phrase("Given up", "포기한 메시지"), Phrase("Added", "추가"), Phrase("By", "추가한 사람"),
                ], rows: rows.map(cells), empty: Phrase("There is no endpoint.", "엔드포인트가 없습니다."))
            if context.may(.administer) { addition }
        }
    }

    private func cells(_ row: Row) -> [HTML] {
        [
            a(.href(ConsolePath("webhooks", row.endpoint.identifier))) {
                data(row.endpoint.shownURL(to: context))
            },
            HTML { WebhookWords.title(of: row.endpoint.format) },
            HTML {
                if let last = row.last {
                    WebhookWords.badge(last.state)
                    plain(" ")
                    Shown.moment(last.entry.happenedAt)
                } else {
                    Shown.nothing
                }
            },
            row.hasFailed
                ? a(
                    .href(
                        ConsolePath(
                            "webhooks", row.endpoint.identifier,
                            query: ["state": WebhookDelivery.State.failed.rawValue]))
                ) { Phrase("Show", "보기") } : HTML { Phrase("None", "없음") },
            Shown.moment(row.endpoint.createdAt), ActorWords.html(caller: row.endpoint.createdBy, keys),
        ]
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
