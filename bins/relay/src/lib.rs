//! `relay`: carries events between pipes and a NATS `JetStream` stream.
//!
//! Both directions have a main thread, which reads or writes the pipe and decides, and a thread for
//! the network ([`link`]), which knows one connection at a time and drops it whole when anything
//! goes wrong. What to send, when to try again and what an answer means is decided without IO, by
//! [`decide`] for both; [`head`] and [`subject`] say what a line becomes as a message.
//!
//! `pub`: [`outbound`] joins stdin, the [`spool`] and [`publish`]. `sub`: [`inbound`] joins
//! [`subscribe`], stdout and [`dedup`].

pub mod args;
pub mod connect;
pub mod decide;
pub mod dedup;
pub mod event;
pub mod head;
pub mod inbound;
pub mod link;
pub mod outbound;
pub mod publish;
pub mod run;
pub mod segment;
pub mod spool;
pub mod subject;
pub mod subscribe;
