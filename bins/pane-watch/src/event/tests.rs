use super::*;

fn pane(n: u32) -> Pane {
    Pane { pane: format!("%{n}"), pid: 4100 + n }
}

fn place() -> Place {
    Place {
        socket: "/tmp/tmux-1000/default".to_owned(),
        server_pid: 4000,
        server_start: 1_775_657_000,
        session: "$0".to_owned(),
        window: "@1".to_owned(),
    }
}

fn executor() -> Of {
    Of { agent: Some("executor".to_owned()), step: Some("5".to_owned()) }
}

/// Each event with every key that it can have.
fn all() -> Vec<Event> {
    vec![
        Event::PaneDead(PaneDead {
            pane: pane(3),
            r#type: "watchdog",
            exit_status: Some(3),
            exit_signal: None,
            died_at: Some("2026-04-08T14:09:58Z".to_owned()),
            tracked: true,
            of: executor(),
            place: place(),
        }),
        Event::PaneGone(PaneGone {
            pane: pane(3),
            process_alive: false,
            exit_status: None,
            exit_signal: Some(9),
            tracked: true,
            of: executor(),
            place: place(),
        }),
        Event::UntrackedPane(UntrackedPane {
            pane: pane(4),
            r#type: "watchdog",
            preexisting: false,
            place: place(),
        }),
        Event::PaneOutlivedAgent(PaneOutlivedAgent {
            pane: pane(3),
            of: executor(),
            agent_pid: 4177,
            since_sec: 30,
            place: place(),
        }),
        Event::KnownPaneGone(KnownPaneGone { pane: pane(0), role: "lead", place: place() }),
        Event::server_gone(Server { pid: 4000, start: 1_775_657_000 }, 4, "/tmp/tmux-1000/default"),
    ]
}

fn line(event: &Event) -> String {
    let at = "2026-04-08T14:10:00Z".parse().unwrap();
    let source = "pane-watch".to_owned();
    let speaker = line::Speaker { program: "pane-watch", source, subject: String::new() };
    String::from_utf8(speaker.line(event, at).unwrap()).unwrap()
}

#[test]
fn each_example_is_what_is_told() {
    for event in all() {
        let name = event.name().event;
        let path = format!("bins/pane-watch/events/{name}.json");
        ::tests::golden(&::tests::root().join(path), line(&event).as_bytes());
    }
}

#[test]
fn an_id_is_that_of_an_incarnation() {
    let event = |pid| {
        let pane = Pane { pid, ..pane(1) };
        let place = place();
        let it = UntrackedPane { pane, r#type: "watchdog", preexisting: false, place };
        line::Event::id(&Event::UntrackedPane(it))
    };
    assert_eq!(event(7), event(7));
    assert_ne!(event(7), event(8));
}

/// A socket's path is the only text that can be long.
#[test]
fn g10_a_path_of_4000_bytes_is_one_line_of_at_most_4096() {
    for mut event in all() {
        let long = format!("/{}", "a \"\n".repeat(1000));
        match &mut event {
            Event::PaneDead(it) => it.place.socket = long,
            Event::PaneGone(it) => it.place.socket = long,
            Event::UntrackedPane(it) => it.place.socket = long,
            Event::PaneOutlivedAgent(it) => it.place.socket = long,
            Event::KnownPaneGone(it) => it.place.socket = long,
            Event::TmuxServerGone(it) => it.socket = long,
        }
        let line = line(&event);
        assert!(line.len() <= 4096 && line.trim_end().lines().count() == 1, "{line}");
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["truncated"], true, "{line}");
    }
}
